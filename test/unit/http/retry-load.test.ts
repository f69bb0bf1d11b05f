import { expect, test, vi } from "vitest";
import { RetryQuota, retry } from "../../../src/http/retry.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scripted } from "../../support/scripted.ts";
import { anAnswer, aStatus, through } from "../../support/sending.ts";

const loads = vi.hoisted(() => ({ count: 0 }));

vi.mock("p-retry", async (original) => {
  loads.count += 1;
  return original();
});

test("p-retry loads with the first failure, not with a success", async () => {
  const clock = new FakeClock();
  const stage = retry({ maxRetryAfterMs: 1, clock, quota: new RetryQuota(), random: () => 0 });
  await through(stage, scripted(anAnswer(200)).send)({ clock });
  expect(loads.count).toBe(0);
  await clock.until(through(stage, scripted(aStatus(500), anAnswer(200)).send)({ clock }));
  expect(loads.count).toBe(1);
});
