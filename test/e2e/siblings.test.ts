import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { documentedLimits } from "../../src/limits.ts";
import type { SharedLimits } from "../../src/sharing.ts";

/** A server that answers every request with no contacts. */
const answeringServer = async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: [], total: 0 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // An http server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const keys = [
  ["a string", "key"],
  ["a function", () => "key"],
] as const;
const changes: readonly [string, () => ClientOptions][] = [
  ["concurrency", () => ({ concurrency: 2 })],
  ["maxResponseBytes", () => ({ maxResponseBytes: 1_000 })],
  ["dispatcher", () => ({ dispatcher: new Agent() })],
  ["fetch", () => ({ fetch: (url, init) => globalThis.fetch(url, init) })],
];

test.each(
  keys.flatMap(([kind, apiKey]) => changes.map(([name, change]) => ({ kind, apiKey, name, change }))),
)("a sibling with another $name shares the budgets where the key is $kind", async ({ apiKey, change }) => {
  using server = await answeringServer();
  const client = new Client({ apiKey, baseUrl: server.url });
  const sibling = client.withOptions(change());
  await client.contacts.list();
  await sibling.contacts.list();
  expect(client.budgets().requestsPerDay.used).toBe(2);
  expect(sibling.budgets().requestsPerDay.used).toBe(2);
  await Promise.all([client.close(), sibling.close()]);
});

test("a sibling with another key, limits or shared limits has budgets of its own", async () => {
  using server = await answeringServer();
  const client = new Client({ apiKey: () => "key", baseUrl: server.url });
  const opened: string[] = [];
  // The documented numbers, so that nothing but where the budgets come from tells them apart.
  const shared: SharedLimits = {
    numbers: documentedLimits,
    open: (name) => {
      opened.push(name);
      const day = { name, max: 9, used: 0, has: () => true, add: () => undefined, freesInMs: () => 0 };
      const leases = {
        ...{ initial: 9, isValid: true, givesUpAt: undefined, usedElsewhere: 0 },
        ...{ attach: () => undefined, want: () => undefined, paused: () => undefined, used: () => undefined },
        close: async () => undefined,
      };
      return { day, leases };
    },
  };
  await client.contacts.list();
  const others = [
    client.withOptions({ apiKey: () => "key" }),
    client.withOptions({ limits: { requestsPerDay: 9 } }),
    client.withOptions({ limits: shared }),
  ];
  expect(others.map((other) => other.budgets().requestsPerDay.used)).toEqual([0, 0, 0]);
  expect(opened).toEqual(["requests", "emails", "events"]);
  await client.close();
});
