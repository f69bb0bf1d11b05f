import { describe, expect, test } from "vitest";
import { RateLimitError } from "../../../src/errors.ts";
import { DeadlineExceeded } from "../../../src/runtime/cancellation.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";
import { aSending, type SendingSpec } from "../../support/sending.ts";

const email = (change: SendingSpec = {}): SendingSpec => requestOn(["requests", "emails"], change);

/** A service that answers at once, and emails of which two a minute may go; so many are used. */
const world = (
  used: number,
  settings: { readonly maxQueued?: number; readonly concurrency?: number } = {},
) => {
  const clock = new FakeClock();
  let sent = 0;
  const limits = { emails: { max: 2, windowMs: 60_000 } };
  const made = paced(
    async () => {
      sent += 1;
      return answered();
    },
    { clock, limits, ...settings },
  );
  for (let at = 0; at < used; at += 1) void made.send(email());
  return { ...made, clock, sent: () => sent };
};

describe("a wait that is known to last too long is not begun", () => {
  test.each([
    ["maxWaitMs", { maxWaitMs: 200 }],
    ["totalTimeoutMs", { totalTimeoutMs: 200 }],
  ])(
    "for %s: it is refused at once, with the limit and the time, and has spent nothing",
    async (name, bound) => {
      const { clock, send, sent, limiter } = world(2);
      await clock.advance(5_000);
      const error: unknown = await send(email(bound)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RateLimitError);
      expect(error).toMatchObject({
        ...{ limit: "emails", retryAfterMs: 55_007, attempts: 0, outcome: "not-applied" },
        message: `requests+emails: not sent, because it would wait 56 s for the limit emails, but only 200 ms are left of ${name}`,
      });
      const { emails, requests } = limiter.state();
      expect([sent(), requests.used, emails.waiting, clock.pending]).toEqual([
        ...[2, 2, { interactive: 0, background: 0 }, 0],
      ]);
    },
  );

  test("behind others it is theirs and its own", async () => {
    const { send } = world(5);
    await turn();
    await expect(send(email({ maxWaitMs: 61_000 }))).rejects.toMatchObject({ retryAfterMs: 120_007 });
  });

  test("for others than those who wait for a narrower limit there is none", async () => {
    const { send, sent } = world(200);
    await send(requestOn(["requests"], { maxWaitMs: 0 }));
    expect(sent()).toBe(3);
  });

  test("nor when the service asks for a longer pause while it waits", async () => {
    const { clock, send, limiter } = world(2);
    const waiting = send(email({ maxWaitMs: 61_000 }));
    const failed = expect(waiting).rejects.toMatchObject({ limit: "emails", retryAfterMs: 62_000 });
    await clock.advance(10_000);
    limiter.budgets.emails.applyPause(62_000, "429 on emails.send");
    await failed;
    expect(clock.now()).toBe(10_000);
  });
});

test("a wait that was not known to be too long ends with maxWaitMs, and a slot has no retryAfterMs", async () => {
  const clock = new FakeClock();
  const { send } = paced(() => clock.sleep(10_000).then(() => answered()), { clock, concurrency: 1 });
  void send(requestOn(["requests"]));
  const refused = expect(send(requestOn(["requests"], { maxWaitMs: 300 }))).rejects.toMatchObject({
    ...{ limit: "concurrency", retryAfterMs: undefined, attempts: 0, outcome: "not-applied" },
    message: "requests: not sent, because maxWaitMs has passed while it waited (for concurrency)",
  });
  await clock.advance(300);
  await refused;
});

test("the waits of one call count together", async () => {
  const { clock, send } = world(1);
  const within = aSending({ clock, maxWaitMs: 61_000 }).sending.call;
  await send(email());
  await clock.until(send(email({ within })));
  expect(within.waitLeftMs).toBeLessThan(1_000);
  await send(email());
  await expect(send(email({ within }))).rejects.toMatchObject({ limit: "emails" });
});

test("of interactive calls maxQueued may wait; background work is not counted, and not refused", async () => {
  const { send, sent } = world(2, { maxQueued: 2 });
  const background = { priority: "background" } as const;
  for (const change of [background, {}, {}, background]) void send(email(change));
  await turn();
  await expect(send(email())).rejects.toMatchObject({
    ...{ limit: "emails", retryAfterMs: 120_007, attempts: 0 },
    message:
      "requests+emails: not sent, because maxQueued (2) calls are already waiting (for the limit emails)",
  });
  expect(sent()).toBe(2);
  await send(requestOn(["requests"]));
});

test("a wait that ends with the call's time says what it was for", async () => {
  const { send } = world(2);
  const abort = new AbortController();
  const waiting = send(email({ signal: abort.signal }));
  abort.abort(new DeadlineExceeded(5_000));
  await expect(waiting).rejects.toThrow(
    "the call took longer than totalTimeoutMs (5000 ms, waiting for the limit emails)",
  );
});

test.each([
  ["no wait is known", { concurrency: 1 }],
  ["a long wait is known", { limits: { requests: { max: 1, windowMs: 60_000 } } }],
])("a call whose time is up before it waits ends by that, where %s", async (_, settings) => {
  const clock = new FakeClock();
  const { send } = paced(() => clock.sleep(60_000).then(() => answered()), { clock, ...settings });
  void send(requestOn(["requests"]));
  await clock.advance(10);
  const abort = new AbortController();
  const late = send(requestOn(["requests"], { totalTimeoutMs: 0, signal: abort.signal }));
  abort.abort(new DeadlineExceeded(5));
  await expect(late).rejects.toBeInstanceOf(DeadlineExceeded);
});

test("work that only the reserve for interactive calls holds up waits for the limit", async () => {
  const { send, waits } = paced(async () => answered());
  await send(requestOn(["requests"]));
  for (let at = 0; at < 91; at += 1) void send(requestOn(["requests"], { priority: "background" }));
  await turn();
  expect(waits).toEqual([
    { operation: "requests", waitingFor: "requests", reason: "limit", waitMs: expect.any(Number) },
  ]);
});
