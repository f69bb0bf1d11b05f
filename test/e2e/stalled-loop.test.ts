import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { type Clock, sleepOn, systemClock } from "../../src/runtime/clock.ts";

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

// Longer than a busy machine needs to bring a request to the service; the clock below skips it.
const timeoutMs = 30_000;

/** The system's clock, which can skip time: what is due by then comes due at once, as after a loop that stood still. */
const skippingClock = () => {
  let skippedMs = 0;
  const armed = new Set<{
    at: number;
    callback: () => void;
    options: { readonly idle?: boolean } | undefined;
    cancel: () => void;
  }>();
  const now = (): number => systemClock.now() + skippedMs;
  const after: Clock["after"] = (ms, callback, options) => {
    const timer = {
      at: now() + ms,
      callback: () => {
        armed.delete(timer);
        callback();
      },
      options,
      cancel: () => {},
    };
    timer.cancel = systemClock.after(ms, timer.callback, options);
    armed.add(timer);
    return function cancel() {
      armed.delete(timer);
      timer.cancel();
    };
  };
  const clock: Clock = { ...systemClock, now, after, sleep: (ms, signal) => sleepOn(clock, ms, signal) };
  const skip = (ms: number): void => {
    skippedMs += ms;
    for (const timer of armed) {
      if (timer.at > now()) continue;
      timer.cancel();
      timer.cancel = systemClock.after(0, timer.callback, timer.options);
    }
  };
  return { clock, skip };
};

/** Stands still from the moment the request is there until the response is written and every deadline is over. */
const standStill = async (skip: (ms: number) => void): Promise<void> => {
  await once(worker, "message");
  skip(2 * timeoutMs);
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
  // No timeout of the test runner ends a thread that stands still.
  Atomics.wait(state, 0, 1, 10_000);
  // The skipped timers are due in the very next turn of the loop.
  Atomics.wait(nobody, 0, 0, 5);
  Atomics.store(state, 0, 0);
};

const ways: readonly (readonly [string, ClientOptions])[] = [
  ["timeoutMs", { timeoutMs }],
  ["totalTimeoutMs", { totalTimeoutMs: timeoutMs }],
  ["timeoutMs, a packed answer", { timeoutMs, headers: { "x-packed": "1" } }],
  ["timeoutMs, through a given fetch", { timeoutMs, fetch: globalThis.fetch }],
  ["totalTimeoutMs, through a given fetch", { totalTimeoutMs: timeoutMs, fetch: globalThis.fetch }],
];

test.each(ways)("a response that lies in the socket wins over %s", async (_name, options) => {
  const { clock, skip } = skippingClock();
  await using client = new Client({ apiKey: "key", baseUrl, limits: false, ...options }, { clock });
  for (let sent = 0; sent < 5; sent += 1) {
    const [receipt] = await Promise.all([client.emails.send(email), standStill(skip)]);
    expect(receipt.id).toBe("m1");
  }
});

/** A server on a thread of its own that closes its connections when it is told to, and says so when their ends have left. */
const closingService = `
  const { createServer } = require("node:http");
  const { parentPort, workerData } = require("node:worker_threads");
  const state = new Int32Array(workerData);
  const sockets = new Set();
  const server = createServer((request, response) => response.end('{"id":"m1"}'));
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
  parentPort.on("message", async () => {
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.end(resolve))));
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
  });
`;

test("an email after a pause uses a new connection if the service closed the old one", async () => {
  const ends = new SharedArrayBuffer(4);
  const closing = new Worker(closingService, { eval: true, workerData: ends });
  try {
    const [port] = await once(closing, "message");
    let pauseMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + pauseMs };
    const options: ClientOptions = { apiKey: "key", baseUrl: `http://127.0.0.1:${port}`, limits: false };
    await using client = new Client(options, { clock });
    for (let sent = 0; sent < 3; sent += 1) await client.emails.send(email);
    closing.postMessage("close");
    // Nothing is read here while the connection ends.
    Atomics.wait(new Int32Array(ends), 0, 0, 10_000);
    pauseMs = 1_001;
    expect((await client.emails.send(email)).id).toBe("m1");
  } finally {
    await closing.terminate();
  }
});
