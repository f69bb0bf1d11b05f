import type { Clock } from "../runtime/clock.ts";
import { epochMsOf, type TemporalMoment } from "../runtime/moments.ts";
import { isNumber, must } from "../runtime/rules.ts";

/** When every call of a client must have ended: a point in time, or milliseconds from now. */
export type Deadline = Date | TemporalMoment | number;

/** The deadline of a client, as times of its monotonic clock. */
export interface ClientDeadline {
  readonly at: number;
  /** When every wait must end, so that a request still has time for its response. */
  readonly waitsEndAt: number;
}

/** The time to leave for a request after its wait. If a quarter of the total time is shorter, that quarter applies. */
const responseTimeMs = 250;

// A larger number (more than three years) must be a time since 1970 that the caller passed by mistake.
const longestMs = 100_000_000_000;

export const mustBeDeadline = must(
  "a valid Date, a Temporal.Instant, or milliseconds from now (for milliseconds since 1970: new Date(ms))",
  (value) =>
    typeof value === "number" ? isNumber(value, -longestMs, longestMs) : Number.isFinite(epochMsOf(value)),
);

/** Converts a deadline to a time of the monotonic clock. */
export const deadlineOn = (clock: Clock, deadline: Deadline): ClientDeadline => {
  // The rule has accepted the value, so a value that isn't a number is a point in time.
  const leftMs = typeof deadline === "number" ? deadline : Number(epochMsOf(deadline)) - clock.wallTime();
  const at = clock.now() + leftMs;
  return { at, waitsEndAt: at - Math.max(0, Math.min(responseTimeMs, leftMs / 4)) };
};
