import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

/** A server on a thread of its own: it answers while the event loop of the test stands still. */
const service = `
  const { createServer } = require("node:http");
  const { gzipSync } = require("node:zlib");
  const { parentPort, workerData } = require("node:worker_threads");
  const state = new Int32Array(workerData);
  const answer = JSON.stringify({ id: "m1", to: "ada@example.com", pad: "x".repeat(100_000) });
  const server = createServer((request, response) => {
    const isPacked = request.headers["x-packed"] !== undefined;
    request.resume().on("end", () => {
      parentPort.postMessage("received");
      Atomics.wait(state, 0, 0);
      response.setHeader("content-type", "application/json");
      if (isPacked) response.setHeader("content-encoding", "gzip");
      response.end(isPacked ? gzipSync(answer) : answer, () => {
        Atomics.store(state, 0, 2);
        Atomics.notify(state, 0);
      });
    });
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const shared = new SharedArrayBuffer(4);
const state = new Int32Array(shared);
const nobody = new Int32Array(new SharedArrayBuffer(4));
let worker: Worker;
let baseUrl: string;

beforeAll(async () => {
  worker = new Worker(service, { eval: true, workerData: shared });
  const [port] = await once(worker, "message");
  baseUrl = `http://127.0.0.1:${port}`;
});

afterAll(() => worker.terminate());

const timeoutMs = 100;

/** Stands still from the moment the request is there until the answer is written and every deadline is over. */
const standStill = async (): Promise<void> => {
  await once(worker, "message");
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
  Atomics.wait(state, 0, 1);
  Atomics.wait(nobody, 0, 0, 2 * timeoutMs);
  Atomics.store(state, 0, 0);
};

const ways: readonly (readonly [string, ClientOptions])[] = [
  ["timeoutMs", { timeoutMs }],
  ["totalTimeoutMs", { totalTimeoutMs: timeoutMs }],
  ["timeoutMs, a packed answer", { timeoutMs, headers: { "x-packed": "1" } }],
  ["timeoutMs, through a given fetch", { timeoutMs, fetch: globalThis.fetch }],
  ["totalTimeoutMs, through a given fetch", { totalTimeoutMs: timeoutMs, fetch: globalThis.fetch }],
];

test.each(ways)("an answer that lies in the socket wins over %s", async (_name, options) => {
  await using client = new Client({ apiKey: "key", baseUrl, limits: false, ...options });
  for (let sent = 0; sent < 5; sent += 1) {
    const [receipt] = await Promise.all([client.emails.send(email), standStill()]);
    expect(receipt.id).toBe("m1");
  }
});
