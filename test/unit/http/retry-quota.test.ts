import { expect, test } from "vitest";
import { ConnectionError, InternalServerError } from "../../../src/errors.ts";
import { RetryQuota, retry } from "../../../src/http/retry.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { aFailure, anAnswer, type SendingSpec, through } from "../../support/sending.ts";

/** Calls against a service that answers by status; what was sent, and how the calls ended. */
const outage = async (calls: number, answer: () => ReturnType<typeof anAnswer>, change: SendingSpec = {}) => {
  const clock = new FakeClock();
  let sent = 0;
  const send = through(retry({ maxRetryAfterMs: 60_000, clock, quota, random: () => 0 }), async () => {
    sent += 1;
    return answer();
  });
  const errors: unknown[] = [];
  for (let at = 0; at < calls; at += 1)
    await clock.until(send({ clock, ...change })).catch((error: unknown) => errors.push(error));
  return { sent, errors };
};
let quota = new RetryQuota();
const failing = () => anAnswer(500, { error: "it broke" });

test("in an outage repeats end once the quota is empty, and errors say so", async () => {
  quota = new RetryQuota();
  const { sent, errors } = await outage(90, failing);
  expect(sent).toBe(90 + 100);
  expect(errors.at(-1)).toBeInstanceOf(InternalServerError);
  expect(String(errors.at(-1))).toContain(
    "It was not repeated: other failures have used up the retry quota.",
  );
  expect(String(errors[0])).not.toContain("quota");
  expect((await outage(100, failing)).sent).toBe(100);
});

test("a 429 and background work draw nothing", async () => {
  quota = new RetryQuota();
  await outage(40, () => anAnswer(429, { error: "slow down" }));
  await outage(40, failing, { priority: "background" });
  expect((await outage(90, failing)).sent).toBe(90 + 100);
});

test("a repeat that succeeds gives back what it drew, and every other success one", async () => {
  quota = new RetryQuota();
  while (quota.draw(5));
  await outage(4, () => anAnswer(200, {}));
  expect(quota.has(5)).toBe(false);
  await outage(1, () => anAnswer(200, {}));
  expect(quota.has(5)).toBe(true);
  let answers = 0;
  await outage(1, () => (answers++ === 0 ? failing() : anAnswer(200, {})));
  expect([quota.has(5), quota.has(6)]).toEqual([true, false]);
});

test("a repeat after a timeout draws twice as much", async () => {
  quota = new RetryQuota();
  const { sent, errors } = await outage(60, () => {
    throw aFailure("timeout", true);
  });
  expect([sent, errors.at(-1)]).toEqual([60 + 50, expect.any(ConnectionError)]);
});

test("a back-off that the call's total time cannot meet is not begun: the failure is the answer", async () => {
  const clock = new FakeClock();
  const stage = retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => 0.9 });
  const send = through(stage, async () => failing());
  await expect(send({ clock, totalTimeoutMs: 400 })).rejects.toBeInstanceOf(InternalServerError);
  expect(clock.now()).toBe(0);
});

test("a Retry-After that the call's total time, or what it may wait, cannot meet ends it at once", async () => {
  const clock = new FakeClock();
  const answer = () => anAnswer(503, { error: "busy" }, { "retry-after": "5" });
  const send = through(
    retry({ maxRetryAfterMs: 60_000, clock, quota: new RetryQuota(), random: () => 0 }),
    async () => answer(),
  );
  for (const bound of [{ totalTimeoutMs: 4_000 }, { maxWaitMs: 4_000 }])
    await expect(send({ clock, ...bound })).rejects.toMatchObject({
      status: 503,
      retryAfterMs: 5_000,
      attempts: 1,
    });
});
