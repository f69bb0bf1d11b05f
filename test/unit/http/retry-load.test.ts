import { expect, test, vi } from "vitest";
import { RetryQuota, retry } from "../../../src/http/retry.ts";
import { anAnswer, aRequest, aStatus } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { flatStage } from "../../support/flat-request.ts";
import { scripted } from "../../support/scripted.ts";

const loads = vi.hoisted(() => ({ count: 0 }));

vi.mock("p-retry", async (original) => {
  loads.count += 1;
  return original();
});

test("p-retry loads with the first failure, not with a success", async () => {
  const clock = new FakeClock();
  const stage = flatStage(retry({ maxRetryAfterMs: 1, clock, quota: new RetryQuota(), random: () => 0 }));
  await stage(scripted(anAnswer(200)).send)(aRequest());
  expect(loads.count).toBe(0);
  await clock.until(stage(scripted(aStatus(500), anAnswer(200)).send)(aRequest()));
  expect(loads.count).toBe(1);
});
