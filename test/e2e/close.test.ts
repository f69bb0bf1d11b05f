import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";

/** A server that never answers, and counts what it is asked. */
const silentServer = async () => {
  let requests = 0;
  let heard: () => void = () => undefined;
  const server = createServer(() => {
    requests += 1;
    heard();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // An http server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: new Promise<void>((resolve) => {
      heard = resolve;
    }),
    requests: () => requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

test("close ends a repeatable call under way, and it is not repeated", async () => {
  const server = await silentServer();
  const client = new Client({ apiKey: "key", baseUrl: server.url });
  const call = client.contacts.list().catch((error: unknown) => error);
  await server.asked;
  await client.close();
  expect(await call).toMatchObject({ code: "connection_failed", attempts: 1 });
  expect(server.requests()).toBe(1);
  server.stop();
});
