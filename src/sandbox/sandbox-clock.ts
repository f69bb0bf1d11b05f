import { type Cancel, type Clock, sleepOn } from "../runtime/clock.ts";
import { isNumber, must, refuseSetup } from "../runtime/rules.ts";

interface Timer {
  dueAt: number;
  readonly callback: () => void;
  readonly isIdle: boolean;
  cancel: Cancel;
}

/** The last time that a `Date` can represent, in the year 275760. A timestamp of a later time would throw. */
const lastTime = 8.64e15;
const withinRange = "that keeps the clock within the range of a JavaScript Date (to the year 275760)";

/** A clock on top of a base clock. Timers follow both the base clock and `advance`. */
export const createSandboxClock = (base: Clock) => {
  let offset = 0;
  let stoppedAt: { readonly now: number; readonly wallTime: number } | undefined;
  const timers = new Set<Timer>();
  const now = () => (stoppedAt?.now ?? base.now()) + offset;
  const wallTime = () => (stoppedAt?.wallTime ?? base.wallTime()) + offset;
  const mustBeWait = must(`a number of milliseconds, at least 0, ${withinRange}`, (ms) =>
    isNumber(ms, 0, lastTime - wallTime()),
  );
  const mustBeAhead = must(`a number of milliseconds ${withinRange}`, (ms) =>
    isNumber(ms, -lastTime, lastTime - wallTime() + offset),
  );

  const fire = (timer: Timer): void => {
    if (!timers.delete(timer)) return;
    timer.cancel();
    timer.callback();
  };
  const arm = (timer: Timer): void => {
    timer.cancel();
    const waitMs = Math.max(0, timer.dueAt - now());
    // On a stopped clock, only `advance` makes timers due.
    if (stoppedAt === undefined || waitMs === 0)
      timer.cancel = base.after(waitMs, () => fire(timer), { idle: timer.isIdle });
  };
  const armAll = (): void => {
    for (const timer of timers) arm(timer);
  };
  const earliest = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer;
    }
    return first;
  };
  const after: Clock["after"] = (ms, callback, { idle: isIdle = false } = {}) => {
    const timer: Timer = { dueAt: now() + ms, callback, isIdle, cancel: () => {} };
    timers.add(timer);
    arm(timer);
    return () => {
      timers.delete(timer);
      timer.cancel();
    };
  };

  return {
    now,
    wallTime,
    after,
    sleep: (ms: number, signal?: AbortSignal) => sleepOn({ after }, ms, signal),
    /**
     * Moves the clock. Timers that become due fire in order, each at its own due time.
     *
     * @throws ConfigurationError for a time out of range.
     */
    advance(wait: unknown) {
      refuseSetup("sandbox.advance", mustBeWait(wait, "ms"));
      const ms = Number(wait);
      const target = now() + ms;
      const end = offset + ms;
      for (let timer = earliest(target); timer !== undefined; timer = earliest(target)) {
        offset = Math.min(end, Math.max(offset, offset + timer.dueAt - now()));
        fire(timer);
      }
      offset = end;
      armAll();
    },
    /** Stops time, or continues from where it stopped. `advance` also moves a stopped clock. */
    freeze(isFrozen: boolean) {
      if (isFrozen === (stoppedAt !== undefined)) return;
      if (stoppedAt !== undefined) offset -= base.now() - stoppedAt.now;
      stoppedAt = isFrozen ? { now: base.now(), wallTime: base.wallTime() } : undefined;
      for (const timer of timers) timer.cancel();
      armAll();
    },
    get isFrozen() {
      return stoppedAt !== undefined;
    },
    /**
     * How far the clock is ahead of the base clock; negative if it is behind. While the clock is stopped, only
     * `advance` and `setAhead` change this value.
     */
    get aheadMs() {
      return offset;
    },
    /** Sets `aheadMs`. Pending timers keep their remaining time. @throws ConfigurationError for a time out of range. */
    setAhead(ms: number) {
      refuseSetup("sandbox.load", mustBeAhead(ms, "aheadMs"));
      const step = ms - offset;
      offset = ms;
      for (const timer of timers) timer.dueAt += step;
    },
  };
};

export type SandboxClock = ReturnType<typeof createSandboxClock>;
