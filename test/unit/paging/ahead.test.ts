import { expect, test } from "vitest";
import { type PageRequest, PagesAhead } from "../../../src/paging/ahead.ts";
import { turn } from "../../support/fake-clock.ts";

const at = (skip: number): PageRequest => ({ skip, limit: 10 });

/** A service that answers when the test says so. */
const service = () => {
  const asked: number[] = [];
  const waiting = new Map<number, (page: number) => void>();
  const givenUp: string[] = [];
  const fetch = ({ skip }: PageRequest, signal: AbortSignal): Promise<number> => {
    asked.push(skip);
    signal.addEventListener("abort", () => {
      waiting.delete(skip);
      givenUp.push(`${skip}: ${signal.reason.message}`);
    });
    return new Promise((resolve) => waiting.set(skip, resolve));
  };
  /** Answers one request, or all. */
  const answer = async (only?: number): Promise<void> => {
    for (const skip of only === undefined ? [...waiting.keys()] : [only]) {
      waiting.get(skip)?.(skip);
      waiting.delete(skip);
    }
    await turn();
  };
  return { asked, givenUp, waiting, fetch, answer };
};

/** The pages of ten from a position on, before an end. */
const pagesFrom =
  (position: number, until = 10_000) =>
  (last?: PageRequest): PageRequest | undefined => {
    const skip = last === undefined ? position : last.skip + last.limit;
    return skip < until ? at(skip) : undefined;
  };

/** Reads pages one after the other; how many stood ready or under way after each. */
const readAhead = async (pages: number, isAlwaysThere: boolean, depth?: number): Promise<number[]> => {
  const { asked, fetch, answer } = service();
  const ahead = new PagesAhead(fetch, depth);
  const counts: number[] = [];
  for (let page = 0; page < pages; page += 1) {
    if (isAlwaysThere) await answer();
    const taking = ahead.take(() => at(page * 10));
    await answer(page * 10);
    expect(await taking).toEqual({ request: at(page * 10), page: page * 10 });
    ahead.plan(100, pagesFrom(page * 10 + 10));
    counts.push(asked.length - page - 1);
  }
  return counts;
};

test("each page that had to be waited for is one more asked for ahead, up to sixteen", async () => {
  expect(await readAhead(18, false)).toEqual([
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16,
  ]);
});

test("pages that have come before they are needed make it no more", async () => {
  expect(await readAhead(5, true)).toEqual([2, 2, 2, 2, 2]);
});

test("a depth that was given stays", async () => {
  expect(await readAhead(4, false, 3)).toEqual([3, 3, 3, 3]);
  expect(await readAhead(4, false, 0)).toEqual([0, 0, 0, 0]);
});

test("nothing is asked for beyond the end of the list, nor more than is allowed", async () => {
  for (const [until, most, expected] of [
    [30, 100, [10, 20]],
    [31, 100, [10, 20, 30]],
    [10, 100, []],
    [10_000, 1, [10]],
  ] as const) {
    const { asked, fetch } = service();
    new PagesAhead(fetch, 4).plan(most, pagesFrom(10, until));
    expect(asked).toEqual(expected);
  }
});

test("a page that was asked for ahead is the next, and more are asked for behind the last", async () => {
  const { asked, fetch, answer } = service();
  const ahead = new PagesAhead(fetch, 2);
  ahead.plan(100, pagesFrom(0));
  const taking = ahead.take(() => at(5));
  await answer();
  expect(await taking).toEqual({ request: at(0), page: 0 });
  ahead.plan(100, pagesFrom(17));
  expect([ahead.next, asked]).toEqual([at(10), [0, 10, 20]]);
});

test("after a page that failed, the pages after it are given up, and the next is the one that is due", async () => {
  const { asked, givenUp, fetch } = service();
  let isDown = true;
  const ahead = new PagesAhead((request, signal) => {
    const page = fetch(request, signal);
    return request.skip === 0 && isDown ? Promise.reject(new Error("503")) : page;
  }, 3);
  ahead.plan(100, pagesFrom(0));
  await expect(ahead.take(() => at(5))).rejects.toThrow("503");
  isDown = false;
  void ahead.take(() => at(0));
  expect(asked).toEqual([0, 10, 20, 0]);
  expect(givenUp).toEqual([0, 10, 20].map((skip) => `${skip}: no longer needed`));
});

test("dropping gives up whatever is under way", () => {
  const { givenUp, waiting, fetch } = service();
  const ahead = new PagesAhead(fetch, 2);
  ahead.plan(100, pagesFrom(0));
  ahead.drop();
  expect([givenUp.length, waiting.size]).toEqual([2, 0]);
});
