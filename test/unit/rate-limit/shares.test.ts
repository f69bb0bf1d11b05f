import { expect, test } from "vitest";
import { documentedLimits } from "../../../src/options/limits.ts";
import { RateLimiter } from "../../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../../src/rate-limit/queue.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** The kinds of a client with the documented limits: single calls, batches of so many events, emails. */
const kinds = (weight: number, priority: "interactive" | "background" = "interactive") =>
  kindsOf(new RateLimiter(documentedLimits, new FakeClock()), weight, priority);

const kindsOf = (
  limiter: RateLimiter,
  weight: number,
  priority: "interactive" | "background" = "interactive",
) => {
  const slots = new ConcurrencyLimit(1);
  const events = limiter.route("events", priority, slots).kind;
  const emails = limiter.route("emails", priority, slots).kind;
  events.weight = weight;
  const kept = () => limiter.budgets.requests.keptForShares("interactive");
  return { events, emails, kept, limiter };
};

test.each([
  [25, 20],
  [50, 10],
  [7, 50],
  [1, 50],
])(
  "for batches of %i events, what they can use in a window is kept: %i requests, half of it at most",
  (weight, share) => {
    const { events, kept } = kinds(weight);
    events.begin();
    expect(kept()).toBe(share);
  },
);

test("less what they hold already", () => {
  const { events, kept, limiter } = kinds(25);
  events.begin();
  limiter.budgets.requests.take(8, {}, events);
  expect(kept()).toBe(12);
  limiter.budgets.requests.take(20, {}, events);
  expect(kept()).toBe(0);
});

test("each kind has its share; a request in flight stands for the next one of its caller", () => {
  const { events, emails, kept } = kinds(25);
  events.begin();
  emails.begin();
  expect(kept()).toBe(20 + 4);
});

test("nothing is kept for a kind without requests, nor once its last one has ended", () => {
  const { events, kept } = kinds(25);
  expect(kept()).toBe(0);
  for (const _ of [1, 2]) events.begin();
  events.end();
  expect(kept()).toBe(20);
  events.end();
  expect(kept()).toBe(0);
});

test("interactive calls keep nothing for background work, background work keeps for both", () => {
  const { events, kept, limiter } = kinds(25, "background");
  events.begin();
  expect([kept(), limiter.budgets.requests.keptForShares("background")]).toEqual([0, 20]);
});
