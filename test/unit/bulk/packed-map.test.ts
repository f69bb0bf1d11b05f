import fc from "fast-check";
import { expect, test } from "vitest";
import { PackedMap } from "../../../src/bulk/packed-map.ts";

test("it has the same entries as a Map, for any writes in any order", () => {
  const key = fc.oneof(
    fc.constantFrom("", "a", "b", "ü", "ada@example.com"),
    fc.string({ unit: "grapheme" }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.uint8Array({ maxLength: 40 })), { maxLength: 4_000 }),
      (entries) => {
        const [packed, map] = [new PackedMap(), new Map<string, string>()];
        for (const [name, value] of entries) {
          packed.set(name, value);
          map.set(name.toWellFormed(), Buffer.from(value).toString("hex"));
        }
        const all = [...packed.entries()].map(([name, value]) => [name, value.toString("hex")] as const);
        expect([packed.size, new Map(all)]).toEqual([map.size, map]);
        for (const [name, value] of map) expect(packed.get(name)?.toString("hex")).toBe(value);
        expect(packed.get("a key that nobody sets")).toBeUndefined();
      },
    ),
    { numRuns: 50 },
  );
});

test("it grows past its first table and its first chunk, and takes entries longer than a chunk", () => {
  const packed = new PackedMap();
  const valueAt = (at: number) => Buffer.alloc(at === 777 ? 3 * 1024 * 1024 : 400, at % 256);
  for (let at = 0; at < 5_000; at += 1) packed.set(`key ${at}`, valueAt(at));
  const wrong: number[] = [];
  for (let at = 0; at < 5_000; at += 1)
    if (packed.get(`key ${at}`)?.equals(valueAt(at)) !== true) wrong.push(at);
  expect([packed.size, wrong]).toEqual([5_000, []]);
});
