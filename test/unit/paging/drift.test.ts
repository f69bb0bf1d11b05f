import { expect, test } from "vitest";
import { Drift } from "../../../src/paging/drift.ts";

const sharing = ({ shared, enough }: Drift): [shared: number, enough: number] => [shared, enough];

test("while nothing moves, pages share two records, and one of them is enough", () => {
  const drift = new Drift();
  expect([...sharing(drift), drift.pagesAhead]).toEqual([2, 1, Number.POSITIVE_INFINITY]);
  drift.joined(0);
  expect([...sharing(drift), drift.pagesAhead]).toEqual([2, 1, Number.POSITIVE_INFINITY]);
});

test("pages share twice as many more as the list moved, and that fades by an eighth a page", () => {
  const drift = new Drift();
  drift.joined(10);
  const seen = [sharing(drift)];
  for (let page = 0; page < 4; page += 1) {
    drift.joined(0);
    seen.push(sharing(drift));
  }
  expect(seen).toEqual([
    [22, 11],
    [19, 10],
    [17, 9],
    [15, 8],
    [13, 7],
  ]);
});

test("a larger move counts at once, a smaller one not before the larger has faded", () => {
  const drift = new Drift();
  drift.joined(8);
  drift.joined(5);
  expect(drift.shared).toBe(16);
  drift.joined(20);
  expect(drift.shared).toBe(42);
});

test("a list that moves away from its beginning needs no more in common", () => {
  const drift = new Drift();
  drift.joined(-30);
  expect(sharing(drift)).toEqual([2, 1]);
});

test("a page never shares more than half of the largest", () => {
  const drift = new Drift();
  drift.joined(500);
  expect(sharing(drift)).toEqual([100, 51]);
  drift.missed(500);
  expect(sharing(drift)).toEqual([100, 51]);
});

test("the overlap grows with each page that does not join, and spreads a move over the requests", () => {
  const drift = new Drift();
  drift.missed(2);
  expect(drift.shared).toBe(6);
  drift.missed(6);
  expect(drift.shared).toBe(14);
  drift.joined(60);
  expect(drift.shared).toBe(42);
  drift.joined(30);
  expect(drift.shared).toBe(62);
});

test("a page that shared nothing and did not join forgets no move", () => {
  const drift = new Drift();
  drift.joined(10);
  drift.missed(0);
  expect(drift.shared).toBe(22);
});

test("after a page that did not join, one more is worth asking for ahead with each that does", () => {
  const drift = new Drift();
  const seen: number[] = [];
  for (const joins of [false, true, true, false, true]) {
    if (joins) drift.joined(0);
    else drift.missed(2);
    seen.push(drift.pagesAhead);
  }
  expect(seen).toEqual([0, 1, 2, 0, 1]);
});
