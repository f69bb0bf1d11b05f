import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../../../src/http/message.ts";
import { Attempt } from "../../../../src/http/transport/attempt.ts";
import { AttemptFailure } from "../../../../src/http/types.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { anAnswer, aSending, type SendingSpec } from "../../../support/sending.ts";

const host = "service.test";

interface Begun {
  readonly attempt: Attempt;
  readonly clock: FakeClock;
  readonly settled: Promise<HttpResponse>;
  /** Why the carrier was told to drop what it carries. */
  readonly dropped: Error[];
}

const begin = (over: SendingSpec = {}, maxResponseBytes = 1_000): Begun => {
  const clock = new FakeClock();
  const dropped: Error[] = [];
  const { promise, resolve, reject } = deferred();
  // A test may look at it later than it fails.
  promise.catch(() => undefined);
  const { sending, request } = aSending(over);
  const attempt = new Attempt(sending, { clock, maxResponseBytes, host }, { request, resolve, reject });
  attempt.onRequestStart({ abort: (reason) => void dropped.push(reason) });
  void promise.catch(() => undefined).then(() => sending.call.release?.());
  return { attempt, clock, settled: promise, dropped };
};

const deferred = () => {
  let resolve: (response: HttpResponse) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<HttpResponse>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
};

const failureOf = async (settled: Promise<unknown>): Promise<AttemptFailure> => {
  const failure = await settled.catch((reason: unknown) => reason);
  if (failure instanceof AttemptFailure) return failure;
  throw new Error(`not a failure: ${String(failure)}`);
};

describe("Attempt", () => {
  test("one whose time was over before it had a socket is not sent, though its timer comes later", async () => {
    const clock = new FakeClock();
    const { promise, resolve, reject } = deferred();
    const { sending, request } = aSending({ attemptTimeoutMs: 2_000 });
    let blockedMs = 0;
    const late = {
      after: (ms: number, callback: () => void) => clock.after(ms, callback),
      now: () => clock.now() + blockedMs,
      wallTime: () => clock.wallTime(),
    };
    const limits = { clock: late, maxResponseBytes: 1_000, host, isOwn: true };
    const attempt = new Attempt(sending, limits, { request, resolve, reject });
    blockedMs = 5_000;
    // Thrown, it leaves the socket to the next request.
    expect(() => attempt.onRequestStart({ abort: () => undefined })).toThrow("ended while waiting");
    expect(await failureOf(promise)).toMatchObject({
      ...{ kind: "timeout", wasSent: false },
      message: "no connection to service.test within timeoutMs, 2000 ms",
    });
  });

  test("joins the pieces of a body, also in the middle of a character", async () => {
    const { attempt, settled } = begin();
    const bytes = Buffer.from('{"name":"Zoë"}');
    attempt.onResponseStart(undefined, 200, { date: "now" });
    attempt.onResponseData(undefined, bytes.subarray(0, 12));
    attempt.onResponseData(undefined, bytes.subarray(12));
    attempt.onResponseEnd();
    expect(await settled).toEqual({
      status: 200,
      headers: { date: "now" },
      text: "",
      json: { name: "Zoë" },
      isJson: true,
    });
  });

  test("a byte order mark, another content type and a packed body are read", async () => {
    for (const [body, coding] of [
      [Buffer.from('\uFEFF{"a":1}'), ""],
      [gzipSync('{"a":1}'), "gzip"],
      [gzipSync('{"a":1}'), "X-GZIP"],
      [gzipSync(deflateSync('{"a":1}')), "deflate, gzip"],
      [gzipSync(deflateSync('{"a":1}')), ["deflate", "gzip"]],
    ] as const) {
      const { attempt, settled } = begin();
      attempt.onResponseStart(undefined, 200, { "content-type": "text/plain", "content-encoding": coding });
      attempt.onResponseData(undefined, body);
      attempt.onResponseEnd();
      expect((await settled).json).toEqual({ a: 1 });
    }
  });

  test("one timer covers all of it, to the last byte", async () => {
    const { attempt, clock, settled, dropped } = begin({ attemptTimeoutMs: 100 });
    attempt.onResponseStart(undefined, 200, {});
    await clock.advance(99);
    attempt.onResponseData(undefined, Buffer.from("{"));
    expect(attempt.hasEnded).toBe(false);
    await clock.advance(1);
    const failure = await failureOf(settled);
    expect([failure.kind, failure.wasSent, failure.message]).toEqual([
      "timeout",
      true,
      "no complete response from service.test (only status 200 and 1 bytes) within timeoutMs, 100 ms",
    ]);
    expect(dropped).toEqual([failure]);
  });

  test("leaves no timer and no listener, however it ends", async () => {
    const ends: readonly ((attempt: Attempt) => void)[] = [
      (attempt) => {
        attempt.onResponseStart(undefined, 200, {});
        attempt.onResponseEnd();
      },
      (attempt) => attempt.lost(new Error("gone")),
      (attempt) => attempt.onResponseStart(undefined, 302, {}),
    ];
    for (const end of ends) {
      const { signal, listeners } = countedSignal();
      const { attempt, clock, settled } = begin({ signal });
      end(attempt);
      await settled.catch(() => undefined);
      expect([clock.pending, listeners()]).toEqual([0, 0]);
    }
  });

  test("an abort ends it with the signal's reason, and frees what carries it", async () => {
    const controller = new AbortController();
    const { attempt, settled, dropped } = begin({ signal: controller.signal });
    attempt.onResponseStart(undefined, 500, {});
    controller.abort("changed my mind");
    const failure = await failureOf(settled);
    expect([failure.kind, failure.cause, dropped]).toEqual(["aborted", "changed my mind", [failure]]);
  });

  test("a signal that has aborted before ends it at once", async () => {
    const { settled, clock } = begin({ signal: AbortSignal.abort("late") });
    expect((await failureOf(settled)).cause).toBe("late");
    expect(clock.pending).toBe(0);
  });

  test("nothing that comes after the end changes the result", async () => {
    const { attempt, settled } = begin();
    attempt.lost(new Error("gone"));
    attempt.onResponseStart(undefined, 200, {});
    attempt.onResponseData(undefined, Buffer.from("{}"));
    expect(attempt.hasEnded).toBe(true);
    attempt.onResponseEnd();
    expect((await failureOf(settled)).kind).toBe("connection");
  });

  test("is not followed when redirected", async () => {
    const { attempt, settled, dropped } = begin();
    attempt.onResponseStart(undefined, 307, { location: "https://elsewhere.example" });
    expect(attempt.hasEnded).toBe(true);
    expect((await failureOf(settled)).kind).toBe("redirect");
    expect(dropped).toHaveLength(1);
  });

  test("a body past the cap is dropped, by its announced and by its true length", async () => {
    const announced = begin({}, 10);
    announced.attempt.onResponseStart(undefined, 200, { "content-length": "11" });
    expect(announced.attempt.hasEnded).toBe(true);
    const counted = begin({}, 10);
    counted.attempt.onResponseStart(undefined, 200, {});
    counted.attempt.onResponseData(undefined, Buffer.alloc(10));
    expect(counted.attempt.hasEnded).toBe(false);
    counted.attempt.onResponseData(undefined, Buffer.alloc(1));
    expect(counted.attempt.hasEnded).toBe(true);
    for (const { settled, dropped } of [announced, counted]) {
      expect((await failureOf(settled)).kind).toBe("too-large");
      expect(dropped).toHaveLength(1);
    }
  });

  test("a small body that unpacks past the cap is too large", async () => {
    const { attempt, settled } = begin({}, 1_000);
    attempt.onResponseStart(undefined, 200, { "content-encoding": "gzip" });
    attempt.onResponseData(undefined, gzipSync(Buffer.alloc(100_000)));
    attempt.onResponseEnd();
    expect((await failureOf(settled)).kind).toBe("too-large");
  });

  test.each(["gzip", "br", "deflate", "zstd-of-tomorrow"])(
    "a body that is no %s is broken",
    async (coding) => {
      const { attempt, settled } = begin();
      attempt.onResponseStart(undefined, 200, { "content-encoding": coding });
      attempt.onResponseData(undefined, Buffer.from('{"a":1}'));
      attempt.onResponseEnd();
      expect((await failureOf(settled)).kind).toBe("broken");
    },
  );

  test("the head of an error counts when the rest of it is lost, late, unreadable or too long", async () => {
    const headers = { "retry-after": "7", "content-encoding": "gzip" };
    const ends: readonly ((begun: Begun) => unknown)[] = [
      ({ attempt }) => attempt.lost(new Error("gone")),
      ({ clock }) => clock.advance(30_000),
      ({ attempt }) => attempt.onResponseEnd(),
      ({ attempt }) => attempt.onResponseData(undefined, Buffer.alloc(1_001)),
    ];
    for (const end of ends) {
      const begun = begin();
      begun.attempt.onResponseStart(undefined, 429, headers);
      begun.attempt.onResponseData(undefined, Buffer.from("not gzip"));
      await end(begun);
      expect(await begun.settled).toEqual(anAnswer(429, "", headers));
    }
  });

  test("a request that a dispatcher starts again after its bytes left is never taken for unsent", async () => {
    const { promise, resolve, reject } = deferred();
    const { sending, request } = aSending();
    const limits = { clock: new FakeClock(), maxResponseBytes: 1, host };
    let mustWaitAgain = false;
    request.admission = {
      get mustWaitAgain() {
        return mustWaitAgain;
      },
    };
    const attempt = new Attempt(sending, limits, { request, resolve, reject });
    attempt.onRequestStart({ abort: () => undefined });
    mustWaitAgain = true;
    attempt.onRequestStart({ abort: () => undefined });
    await expect(promise).rejects.toMatchObject({ kind: "connection", wasSent: true });
  });

  test("an attempt is requeued if the service asked to wait before it had a socket", async () => {
    const { promise, resolve, reject } = deferred();
    const { sending, request } = aSending();
    const limits = { clock: new FakeClock(), maxResponseBytes: 1, host };
    request.admission = { mustWaitAgain: true };
    const attempt = new Attempt(sending, limits, { request, resolve, reject });
    attempt.onRequestStart({ abort: () => undefined });
    attempt.fail("broken", "too late");
    await expect(promise).rejects.toMatchObject({ kind: "requeued", wasSent: false });
  });
});

const countedSignal = (): { readonly signal: AbortSignal; listeners(): number } => {
  const { signal } = new AbortController();
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count -= 1;
    remove(...args);
  };
  return { signal, listeners: () => count };
};
