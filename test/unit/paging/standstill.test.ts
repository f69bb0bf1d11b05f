import { expect, test } from "vitest";
import { Standstill } from "../../../src/paging/end.ts";

type Page = Parameters<Standstill["holdsAt"]>[1];

const page = (length: number, firstId = "first"): Page => ({
  data: Array.from({ length }, (_, at) => ({ id: at === 0 ? firstId : `${firstId}+${at}` })),
});

/** At which page, from 1 on, a service is found to stand still. */
const pagesUntil = (length: number): number => {
  const standstill = new Standstill();
  let pages = 1;
  for (let skip = 0; !standstill.holdsAt(skip, page(length)); skip += length) pages += 1;
  return pages;
};

test("the same page twice more at places further on is no chance", () => {
  expect([pagesUntil(200), pagesUntil(41), pagesUntil(40)]).toEqual([3, 3, 3]);
});

test("of small pages it takes eighty records", () => {
  expect([pagesUntil(19), pagesUntil(10), pagesUntil(1)]).toEqual([6, 9, 81]);
});

test("pages that begin alike and end further on are those of a list that moves", () => {
  const standstill = new Standstill();
  const holds = [100, 120, 140, 160, 180].map((length, at) => standstill.holdsAt(100 * at, page(length)));
  expect(holds).toEqual(Array(5).fill(false));
});

test.each([
  ["begin", 0],
  ["end", 199],
])("pages that %s with another record each are told apart, whatever they share", (_what, changed) => {
  const standstill = new Standstill();
  const holds = [0, 200, 400, 600].map((skip) => {
    const data = [...page(200).data];
    data[changed] = { id: `of ${skip}` };
    return standstill.holdsAt(skip, { data });
  });
  expect(holds).toEqual(Array(4).fill(false));
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

test("records without ids are compared by content, and empty pages are no standstill", () => {
  const holdsOn = (pages: readonly Page[]): boolean[] => {
    const standstill = new Standstill();
    return pages.map((shown, at) => standstill.holdsAt(200 * at, shown));
  };
  const nameless = (name: string): Page => ({ data: Array.from({ length: 200 }, () => ({ name })) });
  expect(holdsOn(["Ada", "Ada", "Ada"].map(nameless))).toEqual([false, false, true]);
  expect(holdsOn(["Ada", "Bob", "Cy", "Di"].map(nameless))).toEqual(Array(4).fill(false));
  expect(holdsOn(Array(4).fill({ data: [null] }))).toEqual(Array(4).fill(false));
  expect(holdsOn(Array(4).fill({ data: [] }))).toEqual(Array(4).fill(false));
});

test("where the list grows as fast as it is read, the same page is no standstill", () => {
  const standstill = new Standstill();
  const holds = [0, 200, 400, 600].map((skip) =>
    standstill.holdsAt(skip, { ...page(200), total: 1_000 + skip }),
  );
  expect(holds).toEqual(Array(4).fill(false));
});
