import { expect, test } from "vitest";
import { contentHash } from "../../../src/runtime/content-hash.ts";

test("the same content in another order, or with nothing more than undefined in it, is the same", () => {
  expect(contentHash({ a: 1, b: { c: 2, d: [3] } })).toBe(
    contentHash({ b: { d: [3], c: 2 }, a: 1, e: undefined }),
  );
  expect(contentHash({ at: new Date(0) })).toBe(contentHash({ at: "1970-01-01T00:00:00.000Z" }));
});

test("other content is another, also where only the kind of a thing differs", () => {
  const contents = [{}, [], null, "", 0, { a: 1 }, [["a", 1]], { a: "1" }, { a: [1] }, { a: null }, "null"];
  expect(new Set(contents.map(contentHash)).size).toBe(contents.length);
});

test("what writes itself as JSON is known by what it writes", () => {
  const [here, there] = ["https://example.com/a", "https://example.com/b"];
  expect(contentHash({ link: new URL(here) })).toBe(contentHash({ link: here }));
  expect(contentHash({ link: new URL(here) })).not.toBe(contentHash({ link: new URL(there) }));
});

test("what JSON cannot carry has an id, and no error", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const contents = [
    { at: new Date("junk") },
    { n: 10n },
    { f: () => 1 },
    { s: Symbol("x") },
    cycle,
    undefined,
    Object.create(URL.prototype),
  ];
  expect(new Set(contents.map(contentHash)).size).toBe(contents.length);
});

// By hand: the SHA-256 of the JSON with its keys in order.
test("stays what it was, on every machine and in every release", () => {
  expect(contentHash({ name: "order.placed", contact: { email: "ada@example.com" } })).toBe(
    "5dff979a08559c53374cb7fdcb3f8027",
  );
});
