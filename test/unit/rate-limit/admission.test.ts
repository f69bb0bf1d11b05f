import { expect, test } from "vitest";
import type { PermitSource } from "../../../src/options/shared-limits.ts";
import { Budget } from "../../../src/rate-limit/budget.ts";
import { ConcurrencyLimit } from "../../../src/rate-limit/concurrency.ts";
import { Kind } from "../../../src/rate-limit/kind.ts";
import { DailyLimit, fixedPermits } from "../../../src/rate-limit/local-limits.ts";
import { AdmissionQueue, QueueGroup } from "../../../src/rate-limit/queue.ts";
import { Admission } from "../../../src/rate-limit/stage.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { requestOn } from "../../support/paced.ts";

/** A request that spends requests and emails, the emails from this source; a pause of a minute is the longest. */
const admission = (source: PermitSource = fixedPermits(10)) => {
  const clock = new FakeClock();
  const budgetOf = (name: string, from: PermitSource): Budget =>
    new Budget(name, { max: 10, perMs: 1_000 }, { clock, onChange: () => undefined, source: from });
  const requests = budgetOf("requests", fixedPermits(10));
  const emails = budgetOf("emails", source);
  const day = new DailyLimit("emailsPerDay", 1, clock);
  const days = [new DailyLimit("requestsPerDay", 1_000, clock), day];
  const kind = new Kind([requests, emails], emails, "interactive");
  const route = { queue: new AdmissionQueue(kind, new ConcurrencyLimit(1), new QueueGroup()), days };
  const request = requestOn(["requests", "emails"]);
  return {
    clock,
    emails,
    day,
    request,
    one: new Admission(request, route, {
      maxRetryAfterMs: 60_000,
      interactiveReserve: 0.1,
      maxQueued: 9,
      clock,
      onStopped: () => undefined,
    }),
  };
};

test("a pause of as long as is allowed is waited for, and a longer one refused in whole seconds", () => {
  const { emails, one } = admission();
  emails.pause(60_000);
  expect(one.refusal()).toBe(undefined);
  emails.pause(90_400);
  expect(one.refusal()).toMatchObject({
    message:
      "requests+emails: not sent, the service asked to send nothing on emails for another 91 s, " +
      "which is longer than maxRetryAfterMs",
    retryAfterMs: 90_400,
  });
});

test("a second that has only begun is reported as a whole one, and a whole one as it is", () => {
  const { emails, one } = admission();
  emails.pause(100_000);
  expect(one.refusal()?.message).toContain("for another 100 s,");
  emails.pause(100_001);
  expect(one.refusal()?.message).toContain("for another 101 s,");
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
  await clock.advance(86_460_000 - leftMs);
  expect(one.refusal()?.message).toContain(`more frees in ${words}`);
});

test("it tells whether what it spends stands still, to the last millisecond", async () => {
  const { clock, emails, one } = admission();
  const before = one.isHeld;
  emails.pause(500);
  await clock.advance(499);
  const atLast = one.isHeld;
  await clock.advance(1);
  expect([before, atLast, one.isHeld]).toEqual([false, true, false]);
});

test("when the shared limits are out of reach it is refused, and they are looked for again", () => {
  let wanted = 0;
  const want = (): void => {
    wanted += 1;
  };
  const lost = { why: "Redis is out of reach; onLost decides", cause: new Error("lost"), givesUpAt: 0 };
  const { one } = admission({ ...fixedPermits(0), isValid: false, lost, want });
  expect(one.refusal()).toMatchObject({
    name: "ConnectionError",
    message: "requests+emails: not sent, Redis is out of reach; onLost decides",
    cause: lost.cause,
    outcome: "not-applied",
  });
  expect(wanted).toBe(1);
});
