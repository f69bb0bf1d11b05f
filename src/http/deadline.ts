import type { Clock } from "../clock.ts";
import { whenAborted } from "../when-aborted.ts";
import { TotalTimeout } from "./types.ts";

/** The signal that bounds one call, and how to let go of it. */
export interface Deadline {
  readonly signal: AbortSignal | undefined;
  /** Clears the timer and the listener; a signal that lives long must not collect them. */
  release(): void;
}

/**
 * Joins the caller's signal and the total time into one signal. Own controller and timer: `AbortSignal.any` over
 * a timeout signal is lost to garbage collection on Node 20, and such a timer does not keep the process alive.
 */
export const deadline = (
  signal: AbortSignal | undefined,
  totalTimeoutMs: number | undefined,
  clock: Clock,
): Deadline => {
  if (totalTimeoutMs === undefined) return { signal, release: () => undefined };
  const controller = new AbortController();
  const forward = (): void => controller.abort(signal?.reason);
  const cancel = clock.after(totalTimeoutMs, () => controller.abort(new TotalTimeout(totalTimeoutMs)));
  const unlink = whenAborted(signal, forward);
  if (signal?.aborted) forward();
  return {
    signal: controller.signal,
    release: () => {
      cancel();
      unlink();
    },
  };
};
