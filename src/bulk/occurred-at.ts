import type { EventInput } from "../service/events.ts";
import { momentMs } from "../service/timestamps.ts";

/** When an event happened, in milliseconds since 1970; undefined where it does not say. */
export const occurredAtMs = ({ occurredAt }: EventInput): number | undefined =>
  occurredAt === undefined ? undefined : momentMs(occurredAt);

/** What the clocks of both sides say. */
export interface Clocks {
  /** The service's time as its answers tell it; undefined before the first. */
  readonly serviceNow: number | undefined;
  readonly wallNow: number;
}

/**
 * Moves a time that only this machine's clock, running ahead, takes for past into the service's past: the service
 * refuses a time in its future. `toleranceMs` is how much later the service's time may be than it is known. A
 * time that lies ahead of this clock too is left for the service to refuse.
 */
export const withinServiceTime = (
  event: EventInput,
  { serviceNow, wallNow }: Clocks,
  toleranceMs = 0,
): EventInput => {
  const at = occurredAtMs(event);
  if (at === undefined || serviceNow === undefined || at > wallNow) return event;
  if (at <= serviceNow + toleranceMs) return event;
  return { ...event, occurredAt: new Date(serviceNow).toISOString() };
};
