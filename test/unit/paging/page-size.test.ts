import { expect, test } from "vitest";
import { PageSize } from "../../../src/paging/page-size.ts";

const pageOf = (length: number, total?: number) => ({ data: Array(length).fill({}), total });

/** A page of so many records, which is not the last. */
const learn = (size: PageSize, limit: number, length: number): boolean =>
  size.showsShorter({ skip: 0, limit }, pageOf(length));

test("a page that is shorter than asked for sets the most that the next is asked for", () => {
  const size = new PageSize();
  expect([learn(size, 200, 200), size.max]).toEqual([false, 200]);
  expect([learn(size, 50, 50), size.max]).toEqual([false, 200]);
  const capped = new PageSize();
  expect([learn(capped, 200, 100), capped.max, capped.longest]).toEqual([true, 100, 100]);
  expect([learn(capped, 100, 60), capped.max]).toEqual([false, 100]);
});

test("a page that is longer than the short one before raises what is known, but not what is asked for", () => {
  const size = new PageSize();
  learn(size, 200, 60);
  learn(size, 60, 90);
  expect([size.max, size.longest]).toEqual([60, 90]);
});

test("the place in a cursor brings the longest page with it", () => {
  const size = new PageSize(100);
  expect([learn(size, 200, 60), size.max]).toEqual([true, 100]);
});

test("the end of the list does not count as a short page", () => {
  const size = new PageSize();
  expect(size.showsShorter({ skip: 400, limit: 200 }, pageOf(30, 430))).toBe(false);
  expect(size.showsShorter({ skip: 400, limit: 200 }, pageOf(0, 300))).toBe(false);
  expect(size.max).toBe(200);
  expect(size.showsShorter({ skip: 400, limit: 200 }, pageOf(30, 431))).toBe(true);
  expect(size.max).toBe(30);
});

test("pages share half of what the service gives, two of few, and always leave one for something new", () => {
  const shared = [200, 101, 7, 5, 4, 3, 2, 1].map((most) => {
    const size = new PageSize();
    learn(size, 201, most);
    return size.maxShared;
  });
  expect(shared).toEqual([100, 50, 3, 2, 2, 2, 1, 0]);
});
