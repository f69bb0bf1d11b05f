import type { SandboxOptions } from "./options.ts";
import type { Random } from "./random.ts";
import type { SandboxClock } from "./sandbox-clock.ts";

/** Delays an answer. */
export type Latency = <T>(work: () => T) => Promise<T>;

interface Range {
  readonly min: number;
  readonly max: number;
  readonly counted: "before" | "after";
}

const rangeOf = (option: SandboxOptions["latencyMs"]): Range => {
  if (option === undefined || typeof option === "number") {
    return { min: option ?? 0, max: option ?? 0, counted: "before" };
  }
  if ("min" in option) return { counted: "before", ...option };
  const [min, max] = option;
  return { min, max, counted: "before" };
};

/** Reads the `latencyMs` option. */
export const createLatency = (
  option: SandboxOptions["latencyMs"],
  clock: SandboxClock,
  random: Random,
): Latency => {
  const { min, max, counted } = rangeOf(option);
  return async (work) => {
    if (max === 0) return work();
    const ms = min + random() * (max - min);
    if (counted === "after") {
      await clock.sleep(ms);
      return work();
    }
    const done = work();
    await clock.sleep(ms);
    return done;
  };
};
