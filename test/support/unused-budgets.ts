import type { ForecastContext } from "../../src/bulk/forecast.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { FakeClock } from "./fake-clock.ts";

/** Budgets of which nothing is used. */
export const unusedBudgets: ForecastContext["budgets"] = () =>
  new RateLimiter(false, new FakeClock()).state();
