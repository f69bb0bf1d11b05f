import { whenAborted } from "../runtime/abort.ts";
import type { Clock } from "../runtime/clock.ts";
import { TotalTimeout } from "./types.ts";

/** The signal that bounds one call, and how to let go of it. */
export interface Deadline {
  readonly signal: AbortSignal | undefined;
  /** Clears the timer and the listener; a signal that lives long must not collect them. */
  release(): void;
}

const unbound = { signal: undefined, release: () => undefined };

/** One signal that aborts with whichever of two does first. */
export const joined = (a: AbortSignal | undefined, b: AbortSignal | undefined): Deadline => {
  if (a === undefined || b === undefined || a === b) return { ...unbound, signal: a ?? b };
  const controller = new AbortController();
  const forward = (from: AbortSignal) => (): void => controller.abort(from.reason);
  const links = [a, b].map((from) => whenAborted(from, forward(from)));
  for (const from of [a, b]) if (from.aborted) forward(from)();
  const release = (): void => {
    for (const unlink of links) unlink();
  };
  return { signal: controller.signal, release };
};

/**
 * Joins the caller's signal and the total time into one signal. Own controller and timer: `AbortSignal.any` over
 * a timeout signal is lost to garbage collection on Node 20, and such a timer does not keep the process alive.
 */
export const deadline = (
  signal: AbortSignal | undefined,
  totalTimeoutMs: number | undefined,
  clock: Clock,
): Deadline => {
  if (totalTimeoutMs === undefined) return { ...unbound, signal };
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
