import { beforeAll, expect, test } from "vitest";
import * as z from "zod";
import type { ClientOptions } from "../../../src/index.ts";
import { anEvent } from "../../support/builders.ts";
import type { FakeClock } from "../../support/fake-clock.ts";
import { served } from "../resources/served.ts";

// It loads with its first use, which takes no time on the clock of these tests but turns of the event loop.
beforeAll(() => import("p-retry"));

/** A service that takes `ms` for each of its answers, which are made of the events or addresses sent. */
const slow = (ms: number, statusOf: (request: number) => number, options: ClientOptions = {}) => {
  let clock: FakeClock | undefined;
  let requests = 0;
  const answer = async (): Promise<Response> => {
    const status = statusOf(requests++);
    await clock?.sleep(ms);
    return Response.json({ results: Array.from({ length: 100 }, () => ({ status })) });
  };
  const scene = served(
    Array.from({ length: 50 }, () => answer),
    { maxRetries: 0, ...options },
    // The longest back-off.
    1,
  );
  clock = scene.clock;
  return scene;
};

const endOf = async (clock: FakeClock, call: Promise<unknown>) => {
  const error = await clock.until(call.catch((reason: unknown) => reason));
  return { error, atMs: clock.now() };
};

const events = (count: number) => Array.from({ length: count }, (_, at) => anEvent({ id: `e${at}` }));
const recorded = () => 202;
const never = new Promise<never>(() => undefined);

test("recordBatch ends by its total time while it waits to repeat", async () => {
  const { client, clock } = slow(10, () => 503, { maxRetries: 4 });
  const end = await endOf(clock, client.events.recordBatch(events(100), { totalTimeoutMs: 700 }));
  expect(end).toMatchObject({
    error: { code: "timeout", operation: "events.recordBatch", outcome: "unknown" },
    atMs: 700,
  });
  expect(String(end.error)).toContain("totalTimeoutMs (700 ms), outcome unknown");
  expect(clock.pending).toBe(0);
});

test("recordBatch has one total time for all of its requests, and says what is left", async () => {
  const { client, clock, requests } = slow(150, recorded, { totalTimeoutMs: 200 });
  const given = events(500);
  const { error, atMs } = await endOf(clock, client.events.recordBatch(given));
  expect([atMs, requests.length]).toEqual([200, 5]);
  expect(error).toMatchObject({ outcome: "unknown", partial: { left: given.slice(400) } });
  const patient = slow(150, recorded, { totalTimeoutMs: 200 });
  const report = patient.client.events.recordBatch(given, { totalTimeoutMs: 400 });
  expect(await patient.clock.until(report)).toMatchObject({ accepted: 500 });
});

test("a recordBatch whose time is up before anything was sent was not applied", async () => {
  const hanging = z.object({}).refine(() => never);
  const { client, clock, requests } = slow(0, recorded, { events: { "order.placed": hanging } });
  const batch = client.events.recordBatch([anEvent({ properties: {} })], { totalTimeoutMs: 200 });
  const end = await endOf(clock, batch);
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "not-applied" }, atMs: 200 });
  expect(requests).toEqual([]);
});
