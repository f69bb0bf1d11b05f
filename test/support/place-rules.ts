import { expect, test } from "vitest";
import type { Place } from "../../src/fleet/place.ts";
import { seeded } from "./simulation.ts";

/** Adds 1 to the counts of some keys. Retries if another writer has changed one of them meanwhile. */
const addOne = async (place: Place, keys: readonly string[], version: string): Promise<void> => {
  for (let { values } = await place.read(keys); ; ) {
    const changes = keys.map((key, at) => ({
      key,
      expected: values[at]?.version ?? "",
      version,
      value: `${Number(values[at]?.value ?? 0) + 1}`,
    }));
    const answer = await place.write(changes);
    if (answer.isWritten) return;
    values = answer.values;
  }
};

/** Tests that every place must pass for limits to work. Each call of `open` acts as another process. */
export const keepsThePlaceRules = (open: () => Place): void => {
  test("no change of one or several values is lost", async () => {
    const random = seeded(7);
    const keys = ["it's", "$1 or ?", "id:crm:requests"];
    const writers = Array.from({ length: 8 }, open);
    const expected = new Map<string, number>();
    await Promise.all(
      writers.map(async (place, writer) => {
        for (let at = 0; at < 10; at += 1) {
          const some = keys.filter(() => random() < 0.6);
          if (some.length === 0) continue;
          // The order of the keys must not matter.
          if (random() < 0.5) some.reverse();
          await addOne(place, some, `${writer}:${at}`);
          for (const key of some) expected.set(key, (expected.get(key) ?? 0) + 1);
        }
      }),
    );
    const { values } = await open().read(keys);
    expect(values.map(({ value }) => Number(value))).toEqual(keys.map((key) => expected.get(key)));
  });

  test("a write with one outdated version changes no value, and returns the current values", async () => {
    const place = open();
    await addOne(place, ["old 1", "old 2"], "first");
    const { values } = await place.read(["old 1", "old 2"]);
    await addOne(open(), ["old 2"], "second");
    const change = { version: "third", value: "0" };
    const changes = values.map(({ version }, at) => ({ ...change, key: `old ${at + 1}`, expected: version }));
    const answer = await place.write(changes);
    expect(answer.isWritten).toBe(false);
    expect(answer.values).toEqual([
      { version: "first", value: "1" },
      { version: "second", value: "2" },
    ]);
  });

  test("its clock never goes back", async () => {
    const place = open();
    const { now } = await place.read(["time"]);
    const later = await place.read(["time"]);
    expect(now).toBeGreaterThan(Date.UTC(2020));
    expect(later.now).toBeGreaterThanOrEqual(now);
  });
};
