import { expect, test } from "vitest";
import { idOf, RecentIds } from "../../../src/paging/recent.ts";

test("a record is known by its id, a text or a number, and not at all without one", () => {
  const records = [{ id: "a" }, { id: 7 }, { id: null }, { name: "x" }, null, "a"];
  expect(records.map(idOf)).toEqual(["a", "7", "", "", "", ""]);
});

test("the oldest ids are forgotten beyond what fits", () => {
  const recent = new RecentIds(3, ["a", "b"]);
  recent.add(["c"]);
  expect(recent.last(5)).toEqual(["a", "b", "c"]);
  recent.add(["d", "e"]);
  expect([recent.size, recent.last(5)]).toEqual([3, ["c", "d", "e"]]);
});

test("a cursor carries the last ids only, oldest first", () => {
  expect(new RecentIds(10, ["a", "b", "c", "d"]).last(2)).toEqual(["c", "d"]);
});

test("an id that comes again is the latest, and the others keep their order", () => {
  const recent = new RecentIds(3, ["a", "b", "c"]);
  recent.add(["a"]);
  expect(recent.last(3)).toEqual(["b", "c", "a"]);
  recent.add(["d"]);
  expect(recent.last(3)).toEqual(["c", "a", "d"]);
});

test("a record without an id takes no place", () => {
  const recent = new RecentIds(3, ["a", "", "", "", "b"]);
  expect([recent.size, recent.last(3), recent.lastKnownIn(["", "x"])]).toEqual([2, ["a", "b"], -1]);
});

test("an age is how many came after", () => {
  const recent = new RecentIds(10, ["a", "b", "c"]);
  expect(["c", "b", "a", "x"].map((id) => recent.ageOf(id))).toEqual([0, 1, 2, Number.POSITIVE_INFINITY]);
});

test.each([
  [["a", "b", "c"], true],
  [["a"], true],
  [["x", "a", "new", "c", "y"], true],
  [["x", "y"], true],
  [["b", "a"], false],
  [["a", "c", "x", "b"], false],
  [["a", "a"], false],
])("records that come again as %j stand in order: %s", (ids, isInOrder) => {
  expect(new RecentIds(10, ["a", "b", "c"]).areInOrder(ids)).toBe(isInOrder);
});

test("ids that are kept are never forgotten, and take no place of others", () => {
  const recent = new RecentIds(2, ["a", "b"]);
  recent.keep();
  recent.add(["c", "d", "e"]);
  expect(recent.lastKnownIn(["a", "b", "c"])).toBe(1);
  expect([recent.size, recent.kept]).toEqual([2, ["a", "b"]]);
});
