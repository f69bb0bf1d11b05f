import { type Cancel, type Clock, sleepOn } from "../runtime/clock.ts";
import { type Check, refuse } from "./checks.ts";

/** A clock on top of another that can be moved ahead. */
export interface SandboxClock extends Clock {
  /**
   * Moves time on. Timers on the way fire in their order, each seeing its own due time.
   *
   * @throws ConfigurationError for anything but milliseconds of at least 0.
   */
  advance(ms: number): void;
}

interface Timer {
  dueAt: number;
  readonly callback: () => void;
  readonly isIdle: boolean;
  cancel: Cancel;
}

const wait: Check = (ms, field) =>
  Number.isFinite(ms) && Number(ms) >= 0
    ? []
    : [`${field} must be milliseconds of at least 0, got ${String(ms)}`];

/** Puts an offset over a clock; its timers follow both the clock below and `advance`. */
export const createSandboxClock = (base: Clock): SandboxClock => {
  let offset = 0;
  const timers = new Set<Timer>();
  const now = () => base.now() + offset;

  const fire = (timer: Timer): void => {
    if (!timers.delete(timer)) return;
    timer.cancel();
    timer.callback();
  };
  const arm = (timer: Timer): void => {
    timer.cancel = base.after(Math.max(0, timer.dueAt - now()), () => fire(timer), { idle: timer.isIdle });
  };
  const earliest = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer;
    }
    return first;
  };

  const clock: SandboxClock = {
    now,
    wallTime: () => base.wallTime() + offset,
    after(ms, callback, options) {
      const isIdle = options?.idle ?? false;
      const timer: Timer = { dueAt: now() + ms, callback, isIdle, cancel: () => {} };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    advance(ms) {
      refuse("sandbox.advance", wait(ms, "ms"));
      const target = now() + ms;
      const end = offset + ms;
      for (let timer = earliest(target); timer !== undefined; timer = earliest(target)) {
        offset = Math.min(end, Math.max(offset, offset + timer.dueAt - now()));
        fire(timer);
      }
      offset = end;
      for (const timer of timers) {
        timer.cancel();
        arm(timer);
      }
    },
  };
  return clock;
};
