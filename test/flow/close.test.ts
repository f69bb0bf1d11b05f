import { expect, test } from "vitest";
import { Client } from "../../src/client.ts";
import { ConfigurationError } from "../../src/errors.ts";
import type { Fetch } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const contact = JSON.stringify({ id: "1", email: "ada@ours.example" });
const batch = JSON.stringify({
  accepted: 1,
  rejected: 0,
  results: [{ index: 0, status: 202, id: "e", name: "seen", outcome: "PROCESSED", runsStarted: 0 }],
});

/** A service that answers when it is told to, and a client of one slot. */
const world = (options: object = {}) => {
  const clock = new FakeClock();
  const onWire: (() => void)[] = [];
  const fetch: Fetch = (url, { signal }) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      const body = url.endsWith("/events/batch") ? batch : contact;
      const headers = { "content-type": "application/json" };
      onWire.push(() => resolve(new Response(body, { status: 200, headers })));
    });
  const client = new Client(
    { apiKey: () => "key", baseUrl: "https://service.test", fetch, concurrency: 1, ...options },
    { clock },
  );
  const create = () => client.contacts.create({ email: "ada@ours.example" });
  return { clock, client, create, onWire };
};
const event = { name: "seen", contact: { id: "1" } };
const settle = async (): Promise<void> => {
  for (let at = 0; at < 5; at += 1) await turn();
};

test("close returns how many calls it refused", async () => {
  const { client, create, onWire } = world();
  const calls = Array.from({ length: 5 }, create);
  await settle();
  const closing = client.close();
  onWire[0]?.();
  expect((await Promise.allSettled(calls)).filter(({ status }) => status === "rejected")).toHaveLength(4);
  expect(await closing).toMatchObject({ refused: 4 });
});

test("close lets sent requests finish and refuses waiting calls, and a later call is sent", async () => {
  const { client, create, onWire } = world();
  const [first, second] = [create(), create()];
  const refused = expect(second).rejects.toMatchObject({
    ...{ name: "ConnectionError", outcome: "not-applied", attempts: 0 },
    message: expect.stringContaining("the client was closed"),
  });
  await settle();
  const closing = client.close();
  await refused;
  await expect(create()).rejects.toThrow("the client was closed");
  onWire[0]?.();
  expect(await first).toMatchObject({ id: "1" });
  expect(await closing).toEqual({ drained: 0, refused: 1, aborted: 0, pending: 0 });
  const later = create();
  await settle();
  onWire[1]?.();
  expect(await later).toMatchObject({ id: "1" });
});

test("after graceMs, the remaining requests are cut off", async () => {
  const { clock, client, create } = world();
  const call = create();
  const cut = expect(call).rejects.toMatchObject({ name: "ConnectionError", outcome: "unknown" });
  await settle();
  const closing = client.close({ graceMs: 25_000 });
  await clock.advance(24_999);
  let isClosed = false;
  void closing.then(() => {
    isClosed = true;
  });
  await settle();
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await cut;
  expect(await closing).toEqual({ drained: 0, refused: 0, aborted: 1, pending: 0 });
});

test("close drains a recorder first, despite the queue and the bounds of the client's calls", async () => {
  const { client, create, onWire } = world({ maxWaitMs: 1, maxQueued: 0, totalTimeoutMs: 1 });
  const recorder = client.events.recorder({ maxBatch: 1 });
  const call = client.contacts.create({ email: "ada@ours.example" }, { totalTimeoutMs: 60_000 });
  await settle();
  const recorded = recorder.record(event);
  await settle();
  const closing = client.close();
  await expect(create()).rejects.toThrow("the client was closed");
  onWire[0]?.();
  await call;
  await settle();
  onWire[1]?.();
  expect(await recorded).toMatchObject({ status: 202 });
  expect(await closing).toEqual({ drained: 1, refused: 0, aborted: 0, pending: 0 });
});

test("an event that could not be sent in time rejects with its true outcome and reaches onDrop", async () => {
  const { clock, client } = world();
  const dropped: unknown[] = [];
  const onDrop = ({ error }: { readonly error: unknown }): void => void dropped.push(error);
  const recorder = client.events.recorder({ maxBatch: 1, onDrop });
  const results = Array.from({ length: 6 }, () => recorder.record(event).catch((error: unknown) => error));
  await settle();
  const closing = client.close({ graceMs: 1_000 });
  await clock.advance(1_000);
  expect(await closing).toEqual({ drained: 0, refused: 0, aborted: 1, pending: 6 });
  const outcomes = (await Promise.all(results)).map((error) => (error as { outcome: string }).outcome);
  expect(outcomes).toEqual(["unknown", ...Array.from({ length: 5 }, () => "not-applied")]);
  expect(dropped.length).toBe(6);
});

test("close counts events that waited for room as sent, or as pending", async () => {
  const { clock, client, onWire } = world();
  const recordSix = (): void => {
    const recorder = client.events.recorder({ maxBatch: 1, onDrop: () => undefined });
    for (let at = 0; at < 6; at += 1) recorder.record(event).catch(() => undefined);
  };
  recordSix();
  await settle();
  const closing = client.close();
  for (let at = 0; at < 6; at += 1) {
    await settle();
    onWire[at]?.();
  }
  expect(await closing).toEqual({ drained: 6, refused: 0, aborted: 0, pending: 0 });
  recordSix();
  await settle();
  const bounded = client.close({ graceMs: 1_000 });
  await clock.advance(1_000);
  expect(await bounded).toEqual({ drained: 0, refused: 0, aborted: 1, pending: 6 });
});

test("close does not count an event as sent whose request failed", async () => {
  const fetch: Fetch = async () => Response.json({ error: "no scope" }, { status: 403 });
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", fetch });
  const recorded = client.events.recorder().record(event);
  const [report, result] = await Promise.all([
    client.close(),
    recorded.catch((error: Error) => error.message),
  ]);
  expect([report, result]).toEqual([{ drained: 0, refused: 0, aborted: 0, pending: 1 }, "no scope"]);
});

test("waitUntil gets a promise for every event, which resolves when the event is recorded or has failed", async () => {
  const { client, onWire } = world();
  const waits: Promise<void>[] = [];
  const recorder = client.events.recorder({ maxBatch: 1, waitUntil: (promise) => void waits.push(promise) });
  const recorded = recorder.record(event);
  await settle();
  let isOver = false;
  void waits[0]?.then(() => {
    isOver = true;
  });
  await settle();
  expect([waits.length, isOver]).toEqual([1, false]);
  onWire[0]?.();
  await recorded;
  await Promise.all(waits);
  await client.close();
});

test("a graceMs that is no time is a ConfigurationError", async () => {
  const { client } = world();
  await expect(client.close({ graceMs: -1 })).rejects.toBeInstanceOf(ConfigurationError);
});

test("an iteration ends with its client, although more of its records are here", async () => {
  const data = Array.from({ length: 3 }, (_, at) => ({ id: `${at}`, email: `${at}@ours.example` }));
  const fetch: Fetch = async () => Response.json({ data, total: 3, skip: 0, limit: 200 });
  const client = new Client({ apiKey: "key", baseUrl: "https://service.test", fetch });
  const contacts = client.contacts.list()[Symbol.asyncIterator]();
  expect(await contacts.next()).toMatchObject({ value: { id: "0" } });
  await client.close();
  await expect(contacts.next()).rejects.toThrow("the client was closed");
});
