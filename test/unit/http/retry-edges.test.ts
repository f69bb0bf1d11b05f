import { expect, test } from "vitest";
import { ConnectionError, TouchpointError } from "../../../src/errors.ts";
import { RetryQuota, retry } from "../../../src/http/retry.ts";
import { mayHaveTakenEffect } from "../../../src/http/retry-policy.ts";
import { AttemptFailure } from "../../../src/http/types.ts";
import { Lifetime, openScope } from "../../../src/runtime/cancellation.ts";
import { operations } from "../../../src/service/operations.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { type Step, scripted } from "../../support/scripted.ts";
import { aFailure, anAnswer, aStatus, type SendingSpec, through } from "../../support/sending.ts";

const ok = anAnswer(200, { ok: true });
const email = { operation: "emails.send", method: "POST", replay: "never" } as const;
const patch = { operation: "contacts.update", method: "PATCH", replay: "idempotent" } as const;

const start = (steps: readonly Step[], over: SendingSpec = {}) => {
  const clock = new FakeClock();
  const script = scripted(...steps);
  const stage = retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => 0.5 });
  const send = through(stage, script.send);
  return { clock, ...script, send: () => send({ clock, ...over }) };
};

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test("a proxy's words are recognized with any blanks around them", () => {
  expect(mayHaveTakenEffect(operations.emails.send, aStatus(502, { error: " Bad Gateway\n" }))).toBe(true);
});

test("a pause that the budget waits out is not waited for a second time", async () => {
  const { clock, send } = start([aStatus(429, {}, { "retry-after": "5" }), ok]);
  expect(await send()).toBe(ok);
  expect([clock.now(), clock.pending]).toEqual([0, 0]);
});

test("a call reports the start and the end of a wait before a retry", async () => {
  const told: unknown[] = [];
  const onWait = (what?: string) => void told.push(what);
  const { clock, send, sendings } = start([aStatus(500), ok], { onWait });
  expect(await clock.until(send())).toBe(ok);
  expect([told, sendings.map(({ call }) => call)]).toMatchObject([
    ["retry", undefined],
    [{}, { waitedMs: 250 }],
  ]);
});

test("a call that began before the client was closed sends nothing after it", async () => {
  const lifetime = new Lifetime();
  const { signal } = lifetime;
  void lifetime.close();
  const { requests, send } = start([ok], { signal });
  expect(await errorOf(send())).toMatchObject({
    message: expect.stringContaining("the client was closed"),
    outcome: "not-applied",
  });
  expect(requests).toEqual([]);
});

test("a client closed during the back-off makes no further attempt", async () => {
  const lifetime = new Lifetime();
  const { clock, requests, send } = start([aStatus(500)], { ...patch, signal: lifetime.signal });
  const failed = errorOf(send());
  await clock.advance(100);
  void lifetime.close();
  expect(await failed).toBeInstanceOf(ConnectionError);
  expect([requests.length, clock.now(), clock.pending]).toEqual([1, 100, 0]);
});

test("an answer without a body, and one that is not JSON, are told apart", async () => {
  const told = async (body: string): Promise<unknown> => errorOf(start([anAnswer(200, body)], email).send());
  expect(await told("")).toMatchObject({ message: expect.stringContaining("with an empty body") });
  expect(await told("<html>")).toMatchObject({
    message: expect.stringContaining("with a body that is not JSON"),
  });
});

/** Ends when its signal does, without having sent anything. */
const unsent =
  (how: (reason: unknown) => unknown): Step =>
  ({ call: { signal } }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(how(signal.reason)));
    });

const ended = async (steps: readonly Step[], over: SendingSpec): Promise<unknown> => {
  const clock = new FakeClock();
  const bound = openScope([], { totalTimeoutMs: 900, clock });
  const stage = retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => 0.5 });
  const send = through(stage, scripted(...steps).send);
  const error = await clock.until(errorOf(send({ clock, ...over, signal: bound.signal })));
  bound.release?.();
  return error instanceof TouchpointError ? [error.code, error.outcome] : error;
};

test("an unclear attempt stays unclear when the next one ends before it was sent", async () => {
  const aborted = unsent((cause) => new AttemptFailure("aborted", "aborted", { wasSent: false, cause }));
  expect(await ended([aFailure("connection", true), aborted], patch)).toEqual(["timeout", "unknown"]);
});

test("a repeat that ends in the queue has not been sent", async () => {
  const inQueue = unsent((reason) => reason);
  expect(await ended([aFailure("connection", false), inQueue], email)).toEqual(["timeout", "not-applied"]);
});
