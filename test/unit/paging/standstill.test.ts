import { expect, test } from "vitest";
import { Standstill } from "../../../src/paging/standstill.ts";

const page = (length: number, firstId = "first"): string[] =>
  Array.from({ length }, (_, at) => (at === 0 ? firstId : `${firstId}+${at}`));

/** At which page, from 1 on, a service is found to stand still. */
const pagesUntil = (length: number): number => {
  const standstill = new Standstill();
  let pages = 1;
  for (let skip = 0; !standstill.holdsAt(skip, page(length)); skip += length) pages += 1;
  return pages;
};

test("the same page twice more at places further on is no chance", () => {
  expect([pagesUntil(200), pagesUntil(21), pagesUntil(20)]).toEqual([3, 3, 3]);
});

test("of small pages it takes forty records", () => {
  expect([pagesUntil(19), pagesUntil(10), pagesUntil(1)]).toEqual([4, 5, 41]);
});

test("another page in between begins the count anew", () => {
  const standstill = new Standstill();
  const holds = [
    ...["a", "a", "b", "b", "b", "b"].map((id, at) => standstill.holdsAt(200 * at, page(200, id))),
    standstill.holdsAt(1_300, page(200, "c")),
  ];
  expect(holds).toEqual([false, false, false, false, true, true, false]);
});

test("a page asked for again at its own place, or before it, may be the same", () => {
  const standstill = new Standstill();
  const holds = [200, 200, 200, 100, 100, 0].map((skip) => standstill.holdsAt(skip, page(200)));
  expect(holds).toEqual(Array(6).fill(false));
});

test("records without ids cannot be told apart, and empty pages are no standstill", () => {
  for (const ids of [page(200, ""), []]) {
    const standstill = new Standstill();
    expect([0, 200, 400, 600].map((skip) => standstill.holdsAt(skip, ids))).toEqual(Array(4).fill(false));
  }
});
