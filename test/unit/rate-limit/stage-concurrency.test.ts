import { expect, test } from "vitest";
import type { HttpResponse } from "../../../src/http/message.ts";
import type { Sending } from "../../../src/http/types.ts";
import type { Limits } from "../../../src/options/limits.ts";
import { ConcurrencyLimit } from "../../../src/rate-limit/queue.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";

/** A client with one slot, over a transport whose requests end when the test says so. */
const oneSlot = async (limits: Partial<Limits> = {}) => {
  const clock = new FakeClock();
  // A clock that has run for a while.
  await clock.advance(50);
  const underWay: { readonly sending: Sending; end(): void; fail(): void }[] = [];
  const { send, waits } = paced(
    (sending) =>
      new Promise<HttpResponse>((resolve, reject) => {
        underWay.push({
          sending,
          end: () => resolve(answered()),
          fail: () => reject(new Error("broken")),
        });
      }),
    { concurrency: 1, clock, limits },
  );
  return { clock, underWay, send, waits };
};

test("a request has its slot until it ends, well or not", async () => {
  const { clock, underWay, send } = await oneSlot();
  const answers = ["a", "b", "c"].map((operation) =>
    send(requestOn(["requests"], { operation })).catch((error: Error) => error.message),
  );
  const begun = () => underWay.map(({ sending }) => sending.operation.id);
  await turn();
  expect(begun()).toEqual(["a"]);
  await clock.advance(300);
  underWay[0]?.fail();
  await turn();
  expect(begun()).toEqual(["a", "b"]);
  await clock.advance(200);
  underWay[1]?.end();
  await turn();
  expect(begun()).toEqual(["a", "b", "c"]);
  underWay[2]?.end();
  expect(await Promise.all(answers)).toEqual(["broken", answered(), answered()]);
  expect(underWay.map(({ sending }) => sending.call)).toMatchObject(
    [0, 300, 500].map((waitedMs) => ({ waitedMs })),
  );
});

test("a response that cannot be read frees its slot", async () => {
  const unreadable: HttpResponse = {
    ...answered(),
    status: 429,
    get retryAfterMs(): number {
      throw new Error("unreadable");
    },
  };
  const slots = new ConcurrencyLimit(1);
  const { send } = paced(async () => unreadable, { slots });
  await expect(send(requestOn(["requests"]))).rejects.toThrow("unreadable");
  expect(slots.inUse).toBe(0);
});

test("a slot that one key's request frees goes to waiting requests of other keys, in turn", async () => {
  const clock = new FakeClock();
  const slots = new ConcurrencyLimit(1);
  const underWay: { readonly by: string; end(): void }[] = [];
  const clientOf = (by: string) =>
    paced(
      () => new Promise<HttpResponse>((resolve) => underWay.push({ by, end: () => resolve(answered()) })),
      { slots, clock },
    );
  const [one, two, three] = ["one", "two", "three"].map(clientOf);
  const calls = [one, two, one, three, two].map((client) => client?.send(requestOn(["requests"])));
  for (let at = 0; at < calls.length; at += 1) {
    while (underWay.length <= at) await turn();
    underWay[at]?.end();
  }
  await Promise.all(calls);
  expect(underWay.map(({ by }) => by)).toEqual(["one", "two", "one", "three", "two"]);
});

test("a call that waits for a slot reports it", async () => {
  const { underWay, send, waits } = await oneSlot();
  const [first, second] = [send(requestOn(["requests"])), send(requestOn(["requests"]))];
  await turn();
  expect(waits).toEqual([
    { operation: "requests", waitingFor: "concurrency", reason: "concurrency", waitMs: 0 },
  ]);
  underWay[0]?.end();
  await first;
  await turn();
  underWay[1]?.end();
  await second;
});

test("a call that waits for a slot, then for a limit, reports both once", async () => {
  const { clock, underWay, send, waits } = await oneSlot({ requests: { max: 1, windowMs: 10_000 } });
  const [first, second, third] = [1, 2, 3].map(() => send(requestOn(["requests"])));
  await turn();
  await clock.advance(400);
  underWay[0]?.end();
  await first;
  await clock.advance(5_000);
  expect(waits.slice(2)).toEqual([
    { operation: "requests", waitingFor: "requests", reason: "limit", waitMs: 10_002 },
  ]);
  await clock.advance(6_000);
  underWay[1]?.end();
  await second;
  await clock.advance(11_000);
  underWay[2]?.end();
  await third;
  expect(waits.map(({ reason }) => reason)).toEqual(["concurrency", "concurrency", "limit", "limit"]);
});
