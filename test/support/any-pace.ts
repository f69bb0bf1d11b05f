import type { IngestContext } from "../../src/bulk/ingest-options.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { FakeClock } from "./fake-clock.ts";

/** A pace without limits or use. */
export const anyPace: IngestContext["pace"] = () => ({
  limits: false,
  budgets: new RateLimiter(false, new FakeClock()).state(),
});
