import { describe, expect, test } from "vitest";
import { WrittenPages } from "../../../src/files/written-pages.ts";

const page = (cursor: string, ...ids: string[]) => ({ cursor, data: ids.map((id) => ({ id })) });
const atStart = { cursor: null, beyond: [] };

describe("WrittenPages", () => {
  test("nothing is covered before anything is written", () => {
    const pages = new WrittenPages(atStart);
    pages.read(page("A", "1", "2"));
    expect(pages.written(0)).toEqual(atStart);
  });

  test("covers whole pages by their cursor and the rest by its ids", () => {
    const pages = new WrittenPages(atStart);
    pages.read(page("A", "1", "2", "3"));
    pages.read(page("B", "4", "5", "6"));
    expect([1, 3, 5, 6].map((records) => pages.written(records))).toEqual([
      { cursor: null, beyond: ["1"] },
      { cursor: "A", beyond: [] },
      { cursor: "A", beyond: ["4", "5"] },
      { cursor: "B", beyond: [] },
    ]);
  });

  test("covers several pages at once", () => {
    const pages = new WrittenPages(atStart);
    for (const cursor of ["A", "B", "C"]) pages.read(page(cursor, `${cursor}1`, `${cursor}2`));
    expect(pages.written(5)).toEqual({ cursor: "B", beyond: ["C1"] });
  });

  test("a run that goes on leaves out what the file has", () => {
    const pages = new WrittenPages({ cursor: "A", beyond: ["4", "5"] });
    expect(pages.read(page("B", "4", "5", "6", "7"))).toEqual([{ id: "6" }, { id: "7" }]);
    expect([0, 1, 2].map((records) => pages.written(records))).toEqual([
      { cursor: "A", beyond: ["4", "5"] },
      { cursor: "A", beyond: ["4", "5", "6"] },
      { cursor: "B", beyond: [] },
    ]);
  });

  test("an id of the file that has moved to a later page is still left out there", () => {
    const pages = new WrittenPages({ cursor: "A", beyond: ["4", "5"] });
    expect(pages.read(page("B", "9", "4"))).toEqual([{ id: "9" }]);
    expect(pages.written(1)).toEqual({ cursor: "B", beyond: ["5"] });
    expect(pages.read(page("C", "5", "6"))).toEqual([{ id: "6" }]);
    expect(pages.written(2)).toEqual({ cursor: "C", beyond: [] });
  });

  test("a page that the file has as a whole is covered without a record more", () => {
    const pages = new WrittenPages({ cursor: "A", beyond: ["4"] });
    expect(pages.read(page("B", "4"))).toEqual([]);
    expect(pages.written(0)).toEqual({ cursor: "B", beyond: [] });
  });
});
