import type { Place, StoredValue } from "../../src/fleet/place.ts";
import type { Clock } from "../../src/runtime/clock.ts";

const here = (): number => 0;

/** A place in the memory of a test. Each request takes `latencyMs()` in each direction. */
export const memoryPlace = (clock: Clock, latencyMs = here): Place => {
  const stored = new Map<string, StoredValue>();
  const values = (keys: readonly string[]) =>
    keys.map((key) => stored.get(key) ?? { version: "", value: "" });
  const wayOf = async <Answer>(answer: () => Answer): Promise<Answer> => {
    if (latencyMs !== here) await clock.sleep(latencyMs());
    const answered = answer();
    if (latencyMs !== here) await clock.sleep(latencyMs());
    return answered;
  };
  const now = (): number => Math.floor(clock.wallTime());
  return {
    name: "the memory",
    read: (keys) => wayOf(() => ({ now: now(), values: values(keys) })),
    write: (changes) =>
      wayOf(() => {
        const keys = changes.map(({ key }) => key);
        const isWritten = values(keys).every(({ version }, at) => version === changes[at]?.expected);
        if (isWritten) for (const { key, version, value } of changes) stored.set(key, { version, value });
        return { isWritten, now: now(), values: values(keys) };
      }),
    faultOf: (cause) => ({ what: String(cause), cause, isLasting: false }),
  };
};
