import type { HttpResponse } from "../../src/http/message.ts";
import type { Send } from "../../src/http/types.ts";
import type { Limits } from "../../src/options/limits.ts";
import type { BudgetName } from "../../src/service/define.ts";
import type { FakeClock } from "./fake-clock.ts";
import { answered } from "./paced.ts";
import { type Counting, type ServiceLimiter, serviceLimiter } from "./service-limiter.ts";

/** How long a request takes until the service counts it, and how long the response then takes. */
export interface Latency {
  readonly there: () => number;
  readonly back: () => number;
}

export const constantLatency = (there: number, back: number): Latency => ({
  there: () => there,
  back: () => back,
});

/** Pseudorandom numbers, the same in every run. */
export const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Random latency of up to `mostMs`, before or after the request is counted. */
export const randomLatency = (mostMs: number, where: "before" | "after", seed = 1): Latency => {
  const random = seeded(seed);
  const some = (): number => random() * mostMs;
  const none = (): number => 0;
  return where === "before" ? { there: some, back: none } : { there: none, back: some };
};

/** A service on the test's clock that counts requests on arrival. */
export const simulatedService = (
  clock: FakeClock,
  {
    counting,
    limits,
    latency,
  }: { readonly counting: Counting; readonly limits: Limits; readonly latency: Latency },
): { readonly send: Send; readonly limiters: Readonly<Record<BudgetName, ServiceLimiter>> } => {
  const limiters = {
    requests: serviceLimiter(counting, limits.requests),
    emails: serviceLimiter(counting, limits.emails),
    events: serviceLimiter(counting, limits.events),
  };
  const send: Send = async ({ operation: { budgets }, plan }): Promise<HttpResponse> => {
    await clock.sleep(latency.there());
    const early = budgets.map((name, at) => {
      const weight = at === budgets.length - 1 ? plan.weight : 1;
      return limiters[name].ask(weight, clock.now());
    });
    await clock.sleep(latency.back());
    const waitMs = Math.max(...early);
    return waitMs > 0 ? answered(429, { "retry-after": String(Math.ceil(waitMs / 1_000)) }) : answered();
  };
  return { send, limiters };
};
