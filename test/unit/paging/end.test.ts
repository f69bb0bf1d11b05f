import { expect, test } from "vitest";
import { ListEnd } from "../../../src/paging/end.ts";

test("one new record lifts the limit on how much pages may share", () => {
  const end = new ListEnd(200, { short: () => undefined, unusable: (message) => new Error(message) });
  const empty = { data: [], total: 1_000 };
  expect(
    end.isAt({ skip: 200, limit: 200 }, empty, { position: 200, longest: 200, fresh: 0 }),
  ).toBeUndefined();
  expect(end.maxShared).toBe(1);
  const page = { data: Array.from({ length: 200 }, (_, id) => ({ id })), total: 1_000 };
  expect(end.isAt({ skip: 199, limit: 200 }, page, { position: 200, longest: 200, fresh: 1 })).toBe(false);
  expect(end.maxShared).toBe(Number.POSITIVE_INFINITY);
});
