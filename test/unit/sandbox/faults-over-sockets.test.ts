import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
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

test("stall-body keeps the connection open in silence", async () => {
  const { url } = await start("stall-body");
  const response = await answered(url);
  const [half] = await once(response, "data");
  expect(half.length).toBe(Math.floor(Number(response.headers["content-length"]) / 2));
  expect(response.complete).toBe(false);
  response.destroy();
});

test("drip sends the body in small pieces", async () => {
  const { sandbox, url } = await start("drip");
  const response = await answered(url);
  const pieces: number[] = [];
  for await (const piece of response) {
    pieces.push(piece.length);
    sandbox.advance(50);
  }
  expect(pieces.slice(0, 3)).toEqual([8, 8, 8]);
});

test("packed bodies are packed, and corrupt ones corrupt", async () => {
  const gzip = await answered((await start("gzip")).url);
  expect(gzip.headers["content-encoding"]).toBe("gzip");
  expect(JSON.parse(gunzipSync(await read(gzip)).toString())).toMatchObject({ email: "ada@example.com" });
  await server?.close();
  const br = await answered((await start("br")).url);
  expect(JSON.parse(brotliDecompressSync(await read(br)).toString())).toMatchObject({
    email: "ada@example.com",
  });
  await server?.close();
  const corrupt = await read(await answered((await start("gzip-corrupt")).url));
  expect(() => gunzipSync(corrupt)).toThrow();
});

test("early-hints comes before the answer", async () => {
  const { url } = await start("early-hints");
  const call = post(url);
  const [[hint], [response]] = await Promise.all([once(call, "information"), once(call, "response")]);
  expect([hint.statusCode, response.statusCode]).toEqual([103, 201]);
  response.resume();
});

test("close-after answers whole and then closes the kept-alive connection", async () => {
  const { url } = await start("close-after");
  const response = await answered(url);
  expect(response.headers.connection).toBe("keep-alive");
  const closed = once(response.socket, "close");
  expect(JSON.parse((await read(response)).toString())).toMatchObject({ email: "ada@example.com" });
  await closed;
});

test("no-content carries no body", async () => {
  const { url } = await start("no-content");
  const response = await answered(url);
  expect([response.statusCode, (await read(response)).length]).toEqual([204, 0]);
});
