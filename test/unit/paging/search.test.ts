import { expect, test } from "vitest";
import { Search } from "../../../src/paging/search.ts";

const placesOf = (search: Search): number[] => {
  const places: number[] = [];
  while (search.next()) places.push(search.position);
  return places;
};

test("looks half a page back, then by whole pages back and forward in turns, and leaves nothing out", () => {
  const search = new Search(900, 200);
  search.endsAt(1_400);
  expect(placesOf(search)).toEqual([800, 600, 900, 400, 1_100, 200, 1_300, 0]);
});

test("begins with the page it came from, for records may have moved into it since", () => {
  const search = new Search(0, 200);
  search.endsAt(450);
  expect(placesOf(search)).toEqual([0, 200, 400]);
});

test("an odd page is halved upwards, so that half a page back reaches what is left", () => {
  const search = new Search(10, 5);
  search.endsAt(10);
  expect(placesOf(search)).toEqual([7, 2, 0]);
});

test("looks at the very first record too, when there is no more before the place", () => {
  const search = new Search(1, 2);
  search.endsAt(1);
  expect(placesOf(search)).toEqual([0]);
});

test("a list that ends earlier than thought is looked through up to there", () => {
  const search = new Search(100, 200);
  search.endsAt(900);
  search.endsAt(500);
  search.endsAt(700);
  expect(placesOf(search)).toEqual([0, 100, 300]);
});
