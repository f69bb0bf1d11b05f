import { Link, untilAborted } from "./cancellation.ts";

/** Clears a timer; a second call has no effect. */
export type Cancel = () => void;

/**
 * The source of time. Tests pass a clock that they control.
 *
 * @example
 * ```ts
 * import { createSandbox } from "touchpoint-sdk/sandbox";
 *
 * const fixed = Date.parse("2026-11-23T12:00:00Z");
 * const own = createSandbox({
 *   clock: {
 *     now: () => 0,
 *     wallTime: () => fixed,
 *     after: () => () => {},
 *     sleep: () => Promise.resolve(),
 *   },
 * });
 * ```
 */
export interface Clock {
  /** Returns the time of a monotonic clock in milliseconds, for durations. */
  now(): number;
  /** Returns the milliseconds since 1970, for comparing with dates of the service. */
  wallTime(): number;
  /**
   * Calls back once after `ms`. The sockets are read once more before the callback, so that a timeout doesn't hide data
   * that has already arrived. `idle` timers do not keep the process alive.
   */
  after(ms: number, callback: () => void, options?: { readonly idle?: boolean }): Cancel;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// Browsers and jsdom under Jest have no setImmediate, and their timers are numbers without `unref`.
const hasImmediates = (): boolean => typeof setImmediate === "function";

// Store the function when the package is loaded, so that fake timers of a test don't block a request.
const immediate: (callback: () => void) => unknown = hasImmediates()
  ? setImmediate
  : (callback) => setTimeout(callback, 0);

/**
 * Calls back after the sockets were read once more. Waits for the next turn of the event loop, because the rest of the
 * current turn may not read them.
 */
export const afterReading = (callback: () => void): void => {
  immediate(function readNext() {
    immediate(callback);
  });
};

// With a longer time, setTimeout would fire at once.
const longestTimerMs = 2 ** 31 - 1;

const after: Clock["after"] = (ms, callback, options) => {
  let timer: NodeJS.Timeout;
  let read: NodeJS.Immediate | undefined;
  // A turn of the event loop runs timers before it reads sockets, so after a blocked turn, a response may be unread.
  const readFirst = (): void => {
    if (hasImmediates()) read = setImmediate(callback);
    else callback();
  };
  const arm = (left: number): void => {
    // A timer may fire up to a millisecond early, but a pause must never end early.
    const step = Math.min(Math.ceil(left), longestTimerMs);
    timer = setTimeout(() => (left > step ? arm(left - step) : readFirst()), step);
    if (options?.idle) timer.unref?.();
  };
  arm(Math.max(0, ms));
  return function cancel() {
    clearTimeout(timer);
    if (read !== undefined) clearImmediate(read);
  };
};

/** Waits on any clock that has `after`. The real clock and the clocks of tests share it. */
export const sleepOn = async (
  clock: Pick<Clock, "after">,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> => {
  signal?.throwIfAborted();
  let cancel: Cancel | undefined;
  const timeUp = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await untilAborted(timeUp, signal).finally(cancel);
};

export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after,
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};

interface Due {
  readonly dueAt: number;
  readonly callback: () => void;
}

/** The timers of one length, in the order in which they end. */
interface Lane {
  /** The start of the ring of callbacks. This link itself has no callback. */
  readonly first: Link<Due>;
  /** When the timer of the lane ends. */
  dueAt: number;
  cancel: Cancel;
}

/**
 * Shares one timer of a clock between all callbacks with the same delay. Attempts use it, because a timer for each
 * attempt takes a sixth of a call's time. The timer stays armed between calls. It doesn't keep the process alive, but
 * the sockets of attempts do.
 */
export class SharedTimers {
  readonly #clock: Pick<Clock, "now" | "after" | "wallTime">;
  readonly #lanes = new Map<number, Lane>();
  readonly now: Clock["now"];
  readonly wallTime: Clock["wallTime"];

  constructor(clock: Pick<Clock, "now" | "after" | "wallTime">) {
    this.#clock = clock;
    this.now = clock.now.bind(clock);
    this.wallTime = clock.wallTime.bind(clock);
  }

  /** Calls back after `ms`, like the clock itself. */
  after(ms: number, callback: () => void): Cancel {
    const { first } = this.#lanes.get(ms) ?? this.#open(ms);
    const link = new Link<Due>({ dueAt: this.#clock.now() + ms, callback }, first);
    return function cancelSharedTimer() {
      link.remove();
    };
  }

  /** Clears every timer. */
  close(): void {
    for (const { cancel } of this.#lanes.values()) cancel();
    this.#lanes.clear();
  }

  #open(ms: number): Lane {
    const first = new Link<Due>({ dueAt: Number.POSITIVE_INFINITY, callback: () => undefined });
    const lane: Lane = { first, dueAt: 0, cancel: () => undefined };
    this.#lanes.set(ms, lane);
    this.#arm(lane, ms, this.#clock.now() + ms);
    return lane;
  }

  #arm(lane: Lane, ms: number, dueAt: number): void {
    lane.dueAt = dueAt;
    const inMs = dueAt - this.#clock.now();
    lane.cancel = this.#clock.after(inMs, () => this.#fire(lane, ms), { idle: true });
  }

  #fire(lane: Lane, ms: number): void {
    const { first, dueAt } = lane;
    // Compare with the time of the timer and not with the current time. A callback that became due while the event loop
    // was blocked must wait until the sockets were read.
    while (first.next.value.dueAt <= dueAt) {
      const due = first.next;
      due.remove();
      due.value.callback();
    }
    if (first.next === first) this.#lanes.delete(ms);
    else this.#arm(lane, ms, first.next.value.dueAt);
  }
}
