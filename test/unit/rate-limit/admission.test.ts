import { expect, test } from "vitest";
import type { SharedBudget } from "../../../src/options/shared-limits.ts";
import { refusal } from "../../../src/rate-limit/admission.ts";
import { Budget } from "../../../src/rate-limit/budget.ts";
import { DailyLimit } from "../../../src/rate-limit/permits.ts";
import { Admission, AdmissionQueue, ConcurrencyLimit, Kind } from "../../../src/rate-limit/queue.ts";
import type { BudgetName } from "../../../src/service/define.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { requestOn } from "../../support/paced.ts";
import { aSending } from "../../support/sending.ts";
import { sharedBudget } from "../../support/shared-budget.ts";

/** A request that spends requests and emails, the emails from this source; a pause of a minute is the longest. */
const admission = (shared?: SharedBudget) => {
  const clock = new FakeClock();
  const budgetOf = (name: BudgetName, from: SharedBudget | undefined, perDay: number): Budget => {
    const day = new DailyLimit(`${name}PerDay`, perDay, clock);
    return new Budget(
      name,
      { max: 10, windowMs: 1_000 },
      { clock, day, onChange: () => undefined, shared: from },
    );
  };
  const requests = budgetOf("requests", undefined, 1_000);
  const emails = budgetOf("emails", shared, 1);
  const { day } = emails;
  const kind = new Kind([requests], emails, "interactive");
  const queue = new AdmissionQueue(kind, new ConcurrencyLimit(1));
  const request = requestOn(["requests", "emails"]);
  const { sending, request: sent } = aSending({ clock, ...request });
  const asked = { sending, request: sent, send: () => Promise.reject(new Error("not sent")) };
  return {
    clock,
    emails,
    day,
    request,
    one: new Admission(asked, queue, {
      maxRetryAfterMs: 60_000,
      interactiveReserve: 0.1,
      maxQueued: 9,
      clock,
    }),
  };
};

test("a pause of as long as is allowed is waited for, and a longer one refused in whole seconds", () => {
  const { emails, one } = admission();
  emails.pause(60_000);
  expect(refusal(one)).toBe(undefined);
  emails.pause(90_400);
  expect(refusal(one)).toMatchObject({
    message:
      "requests+emails: not sent, because the service paused emails for another 91 s, " +
      "which is longer than maxRetryAfterMs",
    retryAfterMs: 90_400,
  });
});

test("a second that has only begun is reported as a whole one, and a whole one as it is", () => {
  const { emails, one } = admission();
  emails.pause(100_000);
  expect(refusal(one)).toHaveProperty("message", expect.stringContaining("another 100 s,"));
  emails.pause(100_001);
  expect(refusal(one)).toHaveProperty("message", expect.stringContaining("another 101 s,"));
});

test.each([
  [119_999, "120 s"],
  [120_000, "2 min"],
  [120_001, "3 min"],
  [150_000, "3 min"],
  [7_199_999, "120 min"],
  [7_200_000, "2.0 h"],
  [8_100_000, "2.3 h"],
  [9_000_000, "2.5 h"],
])("what frees in %i ms is told as %s", async (leftMs, words) => {
  const { clock, day, one } = admission();
  day.add(1);
  await clock.advance(86_700_000 - leftMs);
  expect(refusal(one)).toHaveProperty("message", expect.stringContaining(`it allows more in ${words}`));
});

test("it tells whether what it spends stands still, to the last millisecond", async () => {
  const { clock, emails, one } = admission();
  const before = one.mustWaitAgain;
  emails.pause(500);
  await clock.advance(499);
  const atLast = one.mustWaitAgain;
  await clock.advance(1);
  expect([before, atLast, one.mustWaitAgain]).toEqual([false, true, false]);
});

test("when the shared limits are out of reach it is refused, and they are looked for again", () => {
  const lost = {
    why: "Redis is out of reach; onLost decides",
    cause: new Error("lost"),
    givesUpAt: 0,
    failedAt: -1_000,
  };
  const { shared, log } = sharedBudget({ lost });
  const { one } = admission(shared);
  expect(refusal(one)).toMatchObject({
    name: "ConnectionError",
    message: "requests+emails: not sent, because Redis is out of reach; onLost decides",
    cause: lost.cause,
    outcome: "not-applied",
  });
  expect(log).toEqual(["attached emails", "seek"]);
});
