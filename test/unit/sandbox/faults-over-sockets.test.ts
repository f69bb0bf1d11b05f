import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { Fault, Listening } from "../../../src/sandbox/index.ts";
import { open } from "./client.ts";

let server: Listening | undefined;
afterEach(() => server?.close());

const start = async (fault: Fault) => {
  const { sandbox } = open();
  sandbox.fail({ with: fault });
  server = await sandbox.listen();
  return { sandbox, url: server.url };
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const post = (url: string) => {
  const headers = { authorization: "Bearer sandbox-key", "content-type": "application/json" };
  const call = request(`${url}/api/v1/contacts`, { method: "POST", headers, agent });
  call.end('{"email":"ada@example.com"}');
  return call;
};
const answered = async (url: string): Promise<IncomingMessage> => {
  const [response] = await once(post(url), "response");
  // The event's one argument.
  return response as IncomingMessage;
};
const read = async (response: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
};

test.each([
  ["reset-before", 0],
  ["reset-after-apply", 1],
] as const)("%s is a reset, with %i contacts made", async (fault, made) => {
  const { sandbox, url } = await start(fault);
  await expect(once(post(url), "response")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(sandbox.state.contacts).toHaveLength(made);
});

test("truncate sends half of the announced bytes", async () => {
  const { url } = await start("truncate");
  const response = await answered(url);
  let received = 0;
  response.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  await expect(once(response, "end")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(received).toBe(Math.floor(Number(response.headers["content-length"]) / 2));
});

test("a 204 carries no body", async () => {
  const { url } = await start({ status: 204, applied: true });
  const response = await answered(url);
  expect([response.statusCode, (await read(response)).length]).toEqual([204, 0]);
});
