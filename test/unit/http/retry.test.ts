import { describe, expect, test } from "vitest";
import {
  BadGatewayError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  MailAccountError,
  RateLimitError,
  ResponseValidationError,
  TimeoutError,
  TouchpointError,
} from "../../../src/errors.ts";
import type { HttpResponse } from "../../../src/http/message.ts";
import { RetryQuota, retry } from "../../../src/http/retry.ts";
import { openScope } from "../../../src/runtime/cancellation.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { type Scripted, type Step, scripted, stall } from "../../support/scripted.ts";
import { aFailure, anAnswer, aStatus, type SendingSpec, through } from "../../support/sending.ts";

interface Run extends Scripted {
  readonly clock: FakeClock;
  readonly answer: Promise<HttpResponse>;
  /** When each attempt went down, by the clock. */
  readonly times: number[];
}

const run = (steps: readonly Step[], over: SendingSpec = {}, random = 0.5): Run => {
  const clock = new FakeClock();
  const script = scripted(...steps);
  const times: number[] = [];
  const stage = retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => random });
  const send = through(stage, (...sending) => {
    times.push(clock.now());
    return script.send(...sending);
  });
  const answer = send({ clock, ...over });
  answer.catch(() => undefined);
  return { ...script, clock, answer, times };
};

const errorOf = async ({ clock, answer }: Run): Promise<TouchpointError> => {
  const error = await clock.until(answer).catch((reason: unknown) => reason);
  if (error instanceof TouchpointError) return error;
  throw new Error(`not ours: ${String(error)}`);
};

const ok = anAnswer(200, { ok: true });
const reset = aFailure("connection", true);
const refused = aFailure("connection", false);
const email = { operation: "emails.send", method: "POST", replay: "never" } as const;
const patch = { operation: "contacts.update", method: "PATCH", replay: "idempotent" } as const;

describe("retry: waits", () => {
  test("full jitter: each wait is random times a ceiling that doubles", async () => {
    const made = run([aStatus(500), aStatus(500), aStatus(500), aStatus(500), ok], {}, 0.5);
    expect(await made.clock.until(made.answer)).toBe(ok);
    expect(made.times).toEqual([0, 250, 750, 1_750, 3_750]);
    const account = { attempts: 5, waitedMs: 3_750, mayHaveTakenEffect: false };
    expect(made.sendings.at(-1)?.call).toMatchObject(account);
  });

  test("a random of nothing waits for nothing", async () => {
    const made = run([aStatus(500), aStatus(500), ok], {}, 0);
    await made.clock.until(made.answer);
    expect(made.times).toEqual([0, 0, 0]);
  });

  test("a 500 that names a time is not followed by a request before it", async () => {
    const made = run([aStatus(500, {}, { "retry-after": "12.5" }), ok], {}, 0);
    await made.clock.until(made.answer);
    expect(made.times).toEqual([0, 12_500]);
  });

  test("an attempt that has to wait for a limit again is none: it is repeated, whatever maxRetries says", async () => {
    const made = run([aFailure("requeued", false), ok], { ...email, maxRetries: 0 });
    expect(await made.clock.until(made.answer)).toBe(ok);
    expect([made.times, made.sendings.at(-1)?.call.attempts]).toEqual([[0, 0], 1]);
  });

  test("maxRetries 0 makes one attempt", async () => {
    const made = run([aStatus(500)], { maxRetries: 0 });
    expect(await errorOf(made)).toMatchObject({ code: "server_error", attempts: 1 });
  });

  test("maxRetries 2 makes three attempts", async () => {
    const made = run([reset, reset, reset], { maxRetries: 2 });
    expect(await errorOf(made)).toMatchObject({ code: "connection_failed", attempts: 3 });
  });

  test("reports each repeat", async () => {
    const notices: unknown[] = [];
    const clock = new FakeClock();
    const script = scripted(aStatus(500), refused, ok);
    const settings = {
      maxRetryAfterMs: 1,
      clock,
      quota: new RetryQuota(),
      random: () => 0.5,
      onRetry: (n: unknown) => notices.push(n),
    };
    await clock.until(through(retry(settings), script.send)({ clock }));
    expect(notices).toEqual([
      { operation: "contacts.list", attempt: 1, waitMs: 250, status: 500 },
      { operation: "contacts.list", attempt: 2, waitMs: 500, status: undefined },
    ]);
  });
});

describe("retry: answers", () => {
  test("a success passes through as it is", async () => {
    const made = run([ok]);
    expect(await made.answer).toBe(ok);
  });

  test("an empty success passes only where the operation allows it", async () => {
    const empty = anAnswer(204, "");
    expect(await run([empty], { mayBeEmpty: true }).answer).toBe(empty);
    const error = await errorOf(run([empty], { ...email }));
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error).toMatchObject({ status: 204, outcome: "unknown" });
  });

  test.each([
    ["status 204", 204, {}],
    ["status 205", 205, {}],
    ["a length of 0", 200, { "content-length": "0" }],
    ["a last chunk", 200, { "transfer-encoding": "chunked" }],
    ["no length", 200, {}],
  ])("an empty success with %s is repeated only where that is harmless", async (_how, status, headers) => {
    const empty = anAnswer(status, "", headers);
    const made = run([empty, ok], patch);
    expect(await made.clock.until(made.answer)).toBe(ok);
    const once = await errorOf(run([empty], email));
    expect(once).toMatchObject({ code: "response_invalid", attempts: 1, outcome: "unknown", status });
  });

  test("a success that is not JSON is broken: repeated where that is harmless", async () => {
    const made = run([anAnswer(200, "<html>"), ok], patch);
    expect(await made.clock.until(made.answer)).toBe(ok);
    const once = await errorOf(run([anAnswer(200, "<html>")], email));
    expect(once).toMatchObject({ code: "response_invalid", attempts: 1, outcome: "unknown", status: 200 });
  });

  test("a 401 is repeated once at once where a newer key can be had", async () => {
    const made = run([{ ...anAnswer(401), canRenewKey: true }, ok], { ...email, maxRetries: 0 });
    expect(await made.clock.until(made.answer)).toBe(ok);
    expect(made.times).toEqual([0, 0]);
  });
});

describe("retry: outcome", () => {
  test.each([
    ["400", aStatus(400), BadRequestError],
    ["409", aStatus(409), ConflictError],
    ["an over-long 429", aStatus(429, {}, { "retry-after": "61" }), RateLimitError],
    ["a refused connection", refused, ConnectionError],
  ])("an unclear attempt followed by %s stays unknown", async (_name, last, Class) => {
    const error = await errorOf(run([reset, last], { ...patch, maxRetries: 1 }));
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({ outcome: "unknown", attempts: 2 });
  });

  test.each([
    ["400", aStatus(400)],
    ["an over-long 429", aStatus(429, {}, { "retry-after": "61" })],
    ["a refused connection", refused],
  ])("%s alone was not applied", async (_name, only) => {
    const error = await errorOf(run([only], { ...patch, maxRetries: 0 }));
    expect(error).toMatchObject({ outcome: "not-applied", attempts: 1 });
  });

  test("a read is never applied", async () => {
    expect(await errorOf(run([reset], { maxRetries: 0 }))).toMatchObject({ outcome: "not-applied" });
  });

  test("an over-long 429 is thrown at once with its wait", async () => {
    const made = run([aStatus(429, { error: "Too many." }, { "retry-after": "61" })]);
    const error = await errorOf(made);
    expect(error).toMatchObject({ message: "Too many.", retryAfterMs: 61_000, status: 429 });
    expect(made.clock.now()).toBe(0);
  });

  test("an operation without repeats is not repeated after an unclear attempt", async () => {
    for (const step of [reset, aFailure("timeout", true), aStatus(500), aStatus(503), aStatus(504)]) {
      expect(await errorOf(run([step], email))).toMatchObject({ outcome: "unknown", attempts: 1 });
    }
  });

  test("an operation without repeats is repeated after proof that nothing was applied", async () => {
    const made = run([refused, aStatus(429), aFailure("timeout", false), ok], email);
    expect(await made.clock.until(made.answer)).toBe(ok);
  });

  test("the service's own 502 on an email says that it was refused", async () => {
    const error = await errorOf(run([aStatus(502, { error: "The account is disconnected." })], email));
    expect(error).toBeInstanceOf(MailAccountError);
    expect(error).toMatchObject({
      message: "The account is disconnected.",
      outcome: "not-applied",
      attempts: 1,
    });
  });

  test("a proxy's 502 on an email leaves it unknown", async () => {
    const error = await errorOf(run([aStatus(502, "<html>")], email));
    expect(error).toBeInstanceOf(BadGatewayError);
    expect(error).toMatchObject({ outcome: "unknown", attempts: 1, body: "<html>" });
  });

  test("a cancel repeated after an unclear attempt and answered 404 is done", async () => {
    const cancel = {
      operation: "emails.scheduled.cancel",
      replay: "idempotent",
      notFoundMeansDone: true,
      mayBeEmpty: true,
    } as const;
    const made = run([reset, anAnswer(404)], cancel);
    expect(await made.clock.until(made.answer)).toMatchObject({ status: 204, json: undefined });
    expect(await errorOf(run([anAnswer(404)], cancel))).toMatchObject({ code: "not_found" });
    expect(await errorOf(run([refused, anAnswer(404)], cancel))).toMatchObject({ code: "not_found" });
  });

  test("a redirect is neither followed nor repeated", async () => {
    const redirect = aFailure("redirect", true, anAnswer(307, ""));
    expect(await errorOf(run([redirect], patch))).toMatchObject({
      code: "connection_failed",
      outcome: "unknown",
      attempts: 1,
    });
  });
});

describe("retry: total time", () => {
  const within = (steps: readonly Step[], totalTimeoutMs: number, over: SendingSpec = {}) => {
    const clock = new FakeClock();
    const bound = openScope([], { totalTimeoutMs, clock });
    const script = scripted(...steps);
    const stage = retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => 1 });
    const given = { clock, ...over, signal: bound.signal };
    const answer = through(stage, script.send)(given).finally(() => bound.release?.());
    answer.catch(() => undefined);
    return { clock, answer, times: [], ...script };
  };

  test("ends a wait", async () => {
    const made = within([aStatus(500)], 300, patch);
    const error = await errorOf(made);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ attempts: 1, outcome: "unknown", operation: "contacts.update" });
    expect([made.clock.now(), made.clock.pending]).toEqual([300, 0]);
  });

  test("ends an attempt, which then is unclear", async () => {
    const made = within([stall], 300, patch);
    expect(await errorOf(made)).toMatchObject({ code: "timeout", attempts: 1, outcome: "unknown" });
  });

  test("ends a second attempt", async () => {
    const made = within([refused, stall], 900, patch);
    expect(await errorOf(made)).toMatchObject({ code: "timeout", attempts: 2, outcome: "unknown" });
    expect(made.clock.now()).toBe(900);
  });

  test("ended before anything was sent, nothing was applied", async () => {
    const made = within([refused], 300, patch);
    expect(await errorOf(made)).toMatchObject({ code: "timeout", attempts: 1, outcome: "not-applied" });
  });
});

describe("retry: abort", () => {
  const reasons: readonly unknown[] = [
    "stop",
    null,
    42,
    new TypeError("mine"),
    { why: "none" },
    new DOMException("x", "AbortError"),
  ];
  const reasonOf = async (made: Run): Promise<unknown> =>
    made.answer.then(
      () => "no error",
      (reason: unknown) => reason,
    );

  test.each(reasons)("during the first attempt throws the signal's own reason, %o", async (reason) => {
    const controller = new AbortController();
    const made = run([stall], { signal: controller.signal });
    await turn();
    controller.abort(reason);
    expect(await reasonOf(made)).toBe(reason);
  });

  test.each(reasons)("during a wait throws the signal's own reason, %o", async (reason) => {
    const controller = new AbortController();
    const made = run([aStatus(500)], { signal: controller.signal });
    await made.clock.advance(249);
    controller.abort(reason);
    expect(await reasonOf(made)).toBe(reason);
    expect(made.clock.pending).toBe(0);
  });

  test.each(reasons)("during a later attempt throws the signal's own reason, %o", async (reason) => {
    const controller = new AbortController();
    const made = run([aStatus(500), stall], { signal: controller.signal });
    await made.clock.advance(250);
    controller.abort(reason);
    expect(await reasonOf(made)).toBe(reason);
  });

  test.each(reasons)("in a queue above the transport throws the signal's own reason, %o", async (reason) => {
    const queue: Step = async () => {
      throw reason;
    };
    expect(await reasonOf(run([queue]))).toBe(reason);
    const later = run([aStatus(500), queue]);
    await later.clock.advance(250);
    expect(await reasonOf(later)).toBe(reason);
  });
});
