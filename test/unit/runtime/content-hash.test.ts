import { expect, test } from "vitest";
import { contentHash } from "../../../src/runtime/content-hash.ts";

test("content in another order, or with additional undefined fields, has the same hash", () => {
  expect(contentHash({ a: 1, b: { c: 2, d: [3] } })).toBe(
    contentHash({ b: { d: [3], c: 2 }, a: 1, e: undefined }),
  );
  expect(contentHash({ at: new Date(0) })).toBe(contentHash({ at: "1970-01-01T00:00:00.000Z" }));
});

test("different content has a different hash, even if only a type differs", () => {
  const contents = [{}, [], null, "", 0, { a: 1 }, [["a", 1]], { a: "1" }, { a: [1] }, { a: null }, "null"];
  expect(new Set(contents.map(contentHash)).size).toBe(contents.length);
});

test("an object with toJSON is hashed by its JSON", () => {
  const [here, there] = ["https://example.com/a", "https://example.com/b"];
  expect(contentHash({ link: new URL(here) })).toBe(contentHash({ link: here }));
  expect(contentHash({ link: new URL(here) })).not.toBe(contentHash({ link: new URL(there) }));
});

test("a value that JSON cannot represent has a hash, and causes no error", () => {
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
test("the hash is the same on every machine and in every release", () => {
  expect(contentHash({ name: "order.placed", contact: { email: "ada@example.com" } })).toBe(
    "5dff979a08559c53374cb7fdcb3f8027",
  );
});
