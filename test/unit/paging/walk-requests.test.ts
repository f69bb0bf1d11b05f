import { describe, expect, test } from "vitest";
import type { PageRequest } from "../../../src/paging/ahead.ts";
import { readCursor } from "../../../src/paging/cursor.ts";
import { type Item, MovingList, type MovingListOptions } from "../../support/moving-list.ts";
import { missedAndRepeated } from "../../support/moving-walk.ts";
import { idsOf, nobody, pagesOf, still, walkOver } from "../../support/walks.ts";

describe("Requests of a walk", () => {
  interface Move {
    readonly list: MovingListOptions;
    readonly limit?: number;
    /** The page after which the list moves, from 1 on. */
    readonly after: number;
    readonly move: (list: MovingList) => unknown;
    /** Skip and limit of each request from that page on. */
    readonly asks: string;
    /** How many records each page from there on brought. */
    readonly brings: readonly number[];
  }

  const addInFront = (count: number) => (list: MovingList) => {
    for (let left = count; left > 0; left -= 1) list.add(0);
  };

  const moves: readonly (readonly [string, Move])[] = [
    [
      "still list: each page begins with the last two records of the previous one",
      {
        ...{ list: { length: 800, order: "oldest first" }, after: 1, move: () => undefined },
        ...{ asks: "198+200 396+200 594+200 792+200", brings: [198, 198, 198, 6] },
      },
    ],
    [
      "90 deleted in front: half a page back, then a larger overlap",
      {
        ...{ list: { length: 1_000, order: "oldest first" }, after: 2, move: (list) => list.remove(0, 90) },
        asks: "396+200 296+200 404+200 524+200 654+200 792+200",
        brings: [188, 108, 120, 130, 56],
      },
    ],
    [
      "more than a page deleted in front: further back, then forward to the last known record",
      {
        ...{ list: { length: 1_000, order: "oldest first" }, after: 3, move: (list) => list.remove(0, 290) },
        asks: "594+200 494+200 294+200 394+200 505+200 627+200",
        brings: [188, 100, 111, 5],
      },
    ],
    [
      "last records read deleted: back to the last one that remains",
      {
        ...{ list: { length: 1_400, order: "by name" }, after: 5, move: (list) => list.remove(390, 605) },
        asks: "990+200 890+200 690+200 490+200 290+200 384+200 484+200 595+200 717+200",
        brings: [194, 100, 111],
      },
    ],
    [
      "small pages: the search requests the largest pages but yields small ones",
      {
        ...{ list: { length: 600, order: "oldest first" }, limit: 50, after: 10 },
        ...{ move: (list) => list.remove(0, 290), asks: "498+52 398+200 198+200 160+150 221+139" },
        brings: [50, 50],
      },
    ],
    [
      "500 added in front: the known records in between are skipped",
      {
        ...{ list: { length: 1_000, order: "newest first" }, after: 2, move: addInFront(500) },
        asks: "396+200 594+200 792+200 990+200 1188+200 1386+200",
        brings: [94, 198, 198, 112],
      },
    ],
    [
      "pages capped at 60: the search moves in steps of 60",
      {
        ...{
          list: { length: 500, order: "oldest first", cap: 60 },
          after: 6,
          move: (list) => list.remove(0, 150),
        },
        asks: "348+60 318+60 258+60 348+60 198+60 228+60 258+60 288+60 318+60",
        brings: [58, 30, 30, 30, 2],
      },
    ],
    [
      "all records read deleted and all remembered: begins again",
      {
        ...{ list: { length: 600, order: "oldest first" }, after: 1, move: (list) => list.remove(0, 200) },
        asks: "198+200 98+200 0+200 198+200 398+200 0+200 195+200 390+200",
        brings: [200, 195, 5],
      },
    ],
    [
      "small pages, last records read deleted: the largest page from the last that remains",
      {
        ...{ list: { length: 700, order: "by name" }, limit: 50, after: 10 },
        ...{
          move: (list) => list.remove(390, 115),
          asks: "498+52 398+200 198+200 384+200 365+125 424+116 482+108",
          brings: [50, 50, 50, 45],
        },
      },
    ],
    [
      "last record and 90 in front deleted: once more from the record before it",
      {
        ...{ list: { length: 1_000, order: "oldest first" }, after: 2 },
        ...{
          move: (list) => [list.remove(397), list.remove(0, 90)],
          asks: "396+200 296+200 301+200 408+200 527+200 656+200 794+200",
          brings: [194, 107, 119, 129, 53],
        },
      },
    ],
    [
      "search reaches the end of the list: no further request",
      {
        ...{ list: { length: 300, order: "oldest first" }, after: 1, move: (list) => list.remove(0, 90) },
        ...{ asks: "198+200 98+200", brings: [100] },
      },
    ],
    [
      "small pages capped at 60, last record found: no further search",
      {
        ...{ list: { length: 700, order: "oldest first", cap: 60 }, limit: 50, after: 10 },
        ...{
          move: (list) => list.remove(0, 90),
          asks: "498+52 398+200 428+60 458+60 488+60 518+60 548+60 578+60",
          brings: [48, 30, 30, 30, 30, 30, 2],
        },
      },
    ],
    [
      "small pages capped at 60, only an earlier record found: smaller steps",
      {
        ...{ list: { length: 700, order: "oldest first", cap: 60 }, limit: 50, after: 10 },
        ...{
          move: (list) => [list.remove(499), list.remove(0, 90)],
          asks: "498+52 398+200 468+60 408+60 403+60 429+60 459+60 489+60 519+60 549+60 579+60",
          brings: [50, 30, 30, 30, 30, 30],
        },
      },
    ],
    [
      "small pages capped at 60, no record found: smaller steps around the place",
      {
        ...{ list: { length: 700, order: "oldest first", cap: 60 }, limit: 50, after: 10 },
        ...{
          move: (list) => list.remove(0, 150),
          asks: "498+52 398+200 468+60 408+60 498+60 348+60 370+60 400+60 430+60 460+60 490+60 523+60",
          brings: [50, 30, 30, 30, 30, 30],
        },
      },
    ],
  ];

  test.each(moves)("%s", async (_what, { list: given, limit = 200, after, move, asks, brings }) => {
    const list = new MovingList(given);
    const walk = walkOver(list, { prefetch: 0, limit });
    const before = [];
    while (before.length < after) before.push(...(await walk.next().then((page) => (page ? [page] : []))));
    const asked = list.requests.length;
    move(list);
    const rest = await pagesOf(walk);
    const log = list.requests.slice(asked).map((request) => `${request.skip}+${request.limit}`);
    expect({ asks: log.join(" "), brings: rest.map(({ data }) => data.length) }).toEqual({ asks, brings });
    expect(missedAndRepeated(list, idsOf([...before, ...rest]))).toEqual(nobody);
  });

  test("`fast` sends plain skip and limit, and repeats or misses records that moved", async () => {
    const list = new MovingList({ length: 600, order: "oldest first" });
    const walk = walkOver(list, { prefetch: 0, isDriftSafe: false });
    const pages = [await walk.next()];
    list.remove(0, 5);
    pages.push(await walk.next());
    list.add(0);
    list.items.unshift(...list.items.splice(-10));
    pages.push(await walk.next());
    expect(list.requests.map(({ skip, limit }) => `${skip}+${limit}`)).toEqual([
      "0+200",
      "200+200",
      "400+200",
    ]);
    expect(pages.map((page) => page?.data[0]?.id)).toEqual(["old-0", "old-205", "old-395"]);
  });

  test("a walk that begins again counts from zero and reports no drift", async () => {
    let gone: Item[] = [];
    const list = still(600, {
      before: (self) => {
        // Of those that were missing, half are back at the seventh request, the one that begins again.
        if (self.requests.length === 7) self.items.unshift(...gone.slice(100));
      },
    });
    const walk = walkOver(list, { prefetch: 0 });
    await walk.next();
    gone = list.items.splice(0, 200);
    const page = await walk.next();
    expect(list.requests.at(-1)).toEqual({ skip: 0, limit: 200 });
    expect({ drift: page?.drift, records: page?.data.length }).toEqual({ drift: 0, records: 100 });
    expect(readCursor("contacts.list", page?.cursor).read).toBe(100);
  });

  test("a walk from a cursor searches the list three times whenever it loses its place", async () => {
    const list = still(900);
    const walk = walkOver(list, { prefetch: 0, limit: 100 });
    await walk.next();
    const start = readCursor("contacts.list", (await walk.next())?.cursor);
    const resumed = walkOver(list, { prefetch: 0, limit: 100, start });
    const known = list.items.splice(0, 200);
    const asksUntilLost = async (): Promise<number> => {
      const before = list.requests.length;
      await expect(resumed.next()).rejects.toThrow(/the last \d+ records read were deleted/);
      return list.requests.length - before;
    };
    expect(await asksUntilLost()).toBe(18);
    list.items.unshift(...known);
    expect((await resumed.next())?.data[0]?.id).toBe("old-200");
    list.items.splice(0, 300);
    expect(await asksUntilLost()).toBe(15);
  });

  test("a cursor holds the records yielded, in the order of the list", async () => {
    const list = new MovingList({ length: 10, order: "by name" });
    const walk = walkOver(list, { prefetch: 0, limit: 4 });
    await walk.next();
    list.items.splice(3, 0, { id: "new" });
    const page = await walk.next();
    expect(list.requests.at(-1)).toEqual({ skip: 2, limit: 6 });
    expect(readCursor("contacts.list", page?.cursor).recent).toEqual([
      "old-0",
      "old-1",
      "old-2",
      "new",
      "old-3",
      "old-4",
      "old-5",
      "old-6",
    ]);
  });

  test("a walk that has lost all it remembers searches the list three times before it rejects", async () => {
    const list = new MovingList({ length: 5_000, order: "oldest first" });
    const walk = walkOver(list, { prefetch: 0 });
    for (let page = 1; page <= 15; page += 1) await walk.next();
    const asked = list.requests.length;
    list.remove(500, 3_000);
    await expect(walk.next()).rejects.toThrow("the last 2000 records read were deleted");
    const round = [2_970, 2_870];
    while (round.at(-1) !== 0) round.push(Math.max(0, (round.at(-1) ?? 0) - 200));
    expect(list.requests.slice(asked).map(({ skip }) => skip)).toEqual([...round, ...round, ...round]);
  });

  test("a walk ends when an older record is the list's last and all later ones are deleted", async () => {
    for (const totals of ["true", "missing"] as const) {
      const list = still(3_000, { totals });
      const walk = walkOver(list, { prefetch: 0 });
      for (let page = 1; page <= 12; page += 1) await walk.next();
      const asked = list.requests.length;
      list.remove(1_100, 1_900);
      expect(await pagesOf(walk)).toEqual([]);
      expect(list.requests.length - asked).toBeLessThan(30);
    }
  });

  test("a cursor holds the last 100 ids, and the walk rejects when all of them are gone", async () => {
    const list = still(1_000);
    const walk = walkOver(list, { prefetch: 0 });
    const pages = [await walk.next(), await walk.next(), await walk.next()];
    const start = readCursor("contacts.list", pages[2]?.cursor);
    expect(start.recent).toEqual(list.items.slice(496, 596).map(({ id }) => id));
    list.remove(400, 300);
    await expect(walkOver(list, { start }).next()).rejects.toThrow("the last 100 records read were deleted");
  });

  test("a stop discards the page under way and sends no further request", async () => {
    const list = still(5_000);
    // A fetch that does not listen to its signal.
    const walk = walkOver(list, { fetch: (request) => list.fetch(request), prefetch: 4 });
    const waiting = walk.next();
    walk.stop();
    expect(await waiting).toBeUndefined();
    expect(list.requests).toHaveLength(1);
  });

  test("a stop aborts the requests under way", async () => {
    const list = still(5_000);
    const signals: AbortSignal[] = [];
    const fetch = (request: PageRequest, signal: AbortSignal) => {
      signals.push(signal);
      return list.fetch(request);
    };
    const walk = walkOver(list, { fetch, prefetch: 3 });
    await walk.next();
    walk.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true, true]);
  });

  test("a list that ends before its first total aborts the pages fetched ahead", async () => {
    const list = still(398);
    const signals = new Map<number, AbortSignal>();
    const fetch = async (request: PageRequest, signal: AbortSignal) => {
      signals.set(request.skip, signal);
      const page = await list.fetch(request);
      return request.skip < 400 ? { ...page, total: request.skip === 0 ? 1_000 : 398 } : page;
    };
    const walk = walkOver(list, { fetch, prefetch: 3 });
    expect(idsOf(await pagesOf(walk))).toHaveLength(398);
    expect([...signals].map(([skip, { aborted }]) => [skip, aborted])).toEqual([
      ...[0, 198, 396].map((skip) => [skip, false]),
      [594, true],
    ]);
  });

  test.each([
    ["`fast`", false, [0, 200, 400, 600, 800]],
    ["`strict`", true, [0, 198, 396, 594, 792]],
  ] as const)("%s, a total that is once too small repeats no request", async (_name, isDriftSafe, skips) => {
    const list = still(950);
    const fetch = async (request: PageRequest, signal: AbortSignal) => {
      const page = await list.fetch(request, signal);
      return request.skip === skips[1] ? { ...page, total: 300 } : page;
    };
    const ids = idsOf(await pagesOf(walkOver(list, { fetch, isDriftSafe, prefetch: 3 })));
    expect(list.requests.map(({ skip }) => skip)).toEqual(skips);
    expect(ids).toEqual(list.items.map(({ id }) => id));
  });

  test("pages fetched ahead continue from each other and stop at the total", async () => {
    const list = still(700);
    const walk = walkOver(list, { prefetch: 8 });
    await walk.next();
    expect(list.requests.map(({ skip }) => skip)).toEqual([0, 198, 396, 594]);
    const untold = still(700, { totals: "missing" });
    await walkOver(untold, { prefetch: 8 }).next();
    expect(untold.requests).toHaveLength(1);
  });
});
