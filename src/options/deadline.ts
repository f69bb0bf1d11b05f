import type { Clock } from "../runtime/clock.ts";
import { epochMsOf, type TemporalMoment } from "../runtime/moments.ts";
import { isNumber, must } from "../runtime/rules.ts";

/** When every call of a client has ended: a point in time, or milliseconds from now. */
export type Deadline = Date | TemporalMoment | number;

/** The deadline of a client, on its clock. */
export interface ClientDeadline {
  readonly at: number;
  /** When waits end, so that a request that has waited still has time to be answered. */
  readonly waitsEndAt: number;
}

/** What a request that has waited has left at least, unless that is more than a quarter of the time. */
const answerMs = 250;

// Three years from now is a time since 1970 that was passed as a number.
const longestMs = 100_000_000_000;

export const isDeadline = must(
  "a valid Date, a Temporal.Instant, or milliseconds from now (for milliseconds since 1970: new Date(ms))",
  (value) =>
    typeof value === "number" ? isNumber(value, -longestMs, longestMs) : Number.isFinite(epochMsOf(value)),
);

/** A deadline as a time of the clock, which is never set back. */
export const deadlineOn = (clock: Clock, deadline: Deadline): ClientDeadline => {
  // The rule has accepted it: what is no number is a point in time.
  const leftMs = typeof deadline === "number" ? deadline : Number(epochMsOf(deadline)) - clock.wallTime();
  const at = clock.now() + leftMs;
  return { at, waitsEndAt: at - Math.max(0, Math.min(answerMs, leftMs / 4)) };
};
