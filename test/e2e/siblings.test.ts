import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { Client, type ClientOptions, memoryLedger } from "../../src/index.ts";
import { documentedLimits } from "../../src/options/limits.ts";
import type { SharedLimits } from "../../src/options/shared-limits.ts";
import { sharedBudget } from "../support/shared-budget.ts";

const accepted = { accepted: 1, rejected: 0, results: [{ status: 202 }] };

/** A server that answers every request, or none, and says when one came. */
const started = async (isSilent: boolean) => {
  let requests = 0;
  let hear: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    hear();
    if (isSilent) return;
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(request.method === "POST" ? accepted : { data: [], total: 0 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // An http server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    asked,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const answeringServer = () => started(false);
const silentServer = () => started(true);

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
      return sharedBudget({ name, max: 9 }).shared;
    },
  };
  await client.contacts.list();
  const others = [
    client.withOptions({ apiKey: () => "key" }),
    client.withOptions({ limits: { requestsPerDay: 9 } }),
    client.withOptions({ limits: shared }),
  ];
  expect(others.map((other) => other.budgets().requestsPerDay.used)).toEqual([0, 0, 0]);
  expect(opened).toEqual(["requests", "emails", "events", "sending"]);
  await client.close();
});

test("a sibling with another key waits for a slot of both no longer than it is in use", async () => {
  using server = await answeringServer();
  const client = new Client({ apiKey: "one", baseUrl: server.url, concurrency: 1 });
  const sibling = client.withOptions({ apiKey: "two" });
  const pages = await Promise.all([client.contacts.list(), sibling.contacts.list()]);
  expect(pages).toHaveLength(2);
  await client.close();
});

const seen = { name: "seen", contact: { id: "1" } };
const never = { maxDelayMs: 3_600_000 };

test("close drains the recorders of siblings, and of their siblings", async () => {
  using server = await answeringServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const sibling = client.withOptions({ totalTimeoutMs: 5_000 });
  const recorders = [sibling, sibling.withOptions({ concurrency: 2 })].map((made) =>
    made.events.recorder(never),
  );
  const recorded = recorders.map((recorder) => recorder.record(seen));
  await client.close();
  expect(recorders.map(({ pending }) => pending)).toEqual([0, 0]);
  expect(await Promise.all(recorded)).toMatchObject([{ status: 202 }, { status: 202 }]);
  expect(server.requests()).toBe(2);
});

test("close of a sibling drains its own recorders, and leaves the client it was made from alone", async () => {
  using server = await answeringServer();
  const limits = { requests: { max: 1, windowMs: 50 } };
  const client = new Client({ apiKey: "key", baseUrl: server.url, limits });
  const sibling = client.withOptions({ concurrency: 2 });
  const [recorder, its] = [client, sibling].map((one) => one.events.recorder(never));
  await client.contacts.list();
  const waiting = client.contacts.list();
  await sibling.close();
  expect(await waiting).toMatchObject({ data: [] });
  await expect(its?.record(seen)).rejects.toThrow("the recorder is closed");
  const recorded = recorder?.record(seen);
  await client.close();
  expect(await recorded).toMatchObject({ status: 202 });
});

test.each(changes)(
  "close ends the calls of a sibling with another %s, and they are not repeated",
  async (_, change) => {
    using server = await silentServer();
    const client = new Client({ apiKey: "key", baseUrl: server.url });
    const sibling = client.withOptions({ timeoutMs: 1_500 }).withOptions(change());
    const call = sibling.contacts.list().catch((error: unknown) => error);
    await server.asked;
    await client.close();
    expect(await call).toMatchObject({ code: "connection_failed", attempts: 1 });
    expect(server.requests()).toBe(1);
  },
);

/** Collects garbage, what only the turn before had in hand included. */
const collect = async (): Promise<void> => {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    gc();
  }
};

test("close ends the call and drains the recorder of a sibling without references", async () => {
  using silent = await silentServer();
  using server = await answeringServer();
  const client = new Client({ apiKey: "key", baseUrl: silent.url });
  const call = client
    .withOptions({ concurrency: 2 })
    .withOptions({ timeoutMs: 1_500 })
    .contacts.list()
    .catch((error: unknown) => error);
  const recorded = client.withOptions({ baseUrl: server.url }).events.recorder(never).record(seen);
  await silent.asked;
  await collect();
  await client.close({ graceMs: 500 });
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 1 });
  expect(await recorded).toMatchObject({ status: 202 });
});

test("neither a client nor a sibling keeps other siblings in memory", async () => {
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
  let last = client;
  // Every one has a ledger of its own: what is left of it when nobody holds the sibling.
  const ledgers = [2, 3, 4].map((concurrency) => {
    const ledger = memoryLedger();
    last = last.withOptions({ ledger, concurrency });
    return new WeakRef(ledger);
  });
  await collect();
  expect(ledgers.map((ledger) => ledger.deref() === undefined)).toEqual([true, true, false]);
  await Promise.all([client, last].map((one) => one.close()));
});
