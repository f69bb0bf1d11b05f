import { describe, expect, test } from "vitest";
import type { PageRequest } from "../../../src/paging/ahead.ts";
import { readCursor } from "../../../src/paging/cursor.ts";
import { Walk, type WalkSettings } from "../../../src/paging/walk.ts";
import { type Item, MovingList, type Totals } from "../../support/moving-list.ts";
import { missedAndRepeated } from "../../support/moving-walk.ts";
import { seeded } from "../../support/simulation.ts";
import { everyTotals, idsOf, nobody, pagesOf, prefetches, still, walkOver } from "../../support/walks.ts";

describe("Walk over a service that breaks its contract", () => {
  test("rejects when the service ignores skip and withholds records", async () => {
    for (const totals of ["true", "missing"] as const) {
      for (const isDriftSafe of [true, false]) {
        const list = still(1_000, { ignoresSkip: true, totals });
        await expect(pagesOf(walkOver(list, { isDriftSafe }))).rejects.toThrow("the service ignores `skip`");
      }
    }
  });

  test("ends when the service ignores skip and returns all records", async () => {
    for (const totals of everyTotals.filter((name) => name !== "too large")) {
      for (const length of [1, 2, 3, 30, 199]) {
        const list = still(length, { ignoresSkip: true, totals });
        expect({ totals, ids: idsOf(await pagesOf(walkOver(list))) }).toEqual({
          totals,
          ids: list.items.map(({ id }) => id),
        });
      }
    }
  });

  test("ends when the service ignores skip and its full page holds the total", async () => {
    const list = still(200, { ignoresSkip: true });
    expect(idsOf(await pagesOf(walkOver(list, { prefetch: 0 })))).toEqual(list.items.map(({ id }) => id));
  });

  /** A walk over a service that shows at some requests, counted from 1, less than it was asked for. */
  const walkOverCut = (
    length: number,
    over: Partial<WalkSettings<Item>>,
    most: (request: number) => number,
  ) => {
    const list = still(length);
    const reports: string[] = [];
    const fetch = async (request: PageRequest) => {
      const page = await list.fetch(request);
      return { ...page, data: page.data.slice(0, most(list.requests.length)) };
    };
    const onUnstable = (message: string) => void reports.push(message);
    const onShort = (missing: number, total: number) => void reports.push(`${missing} of ${total}`);
    const walk = walkOver(list, { prefetch: 0, fetch, onUnstable, onShort, ...over });
    return { list, reports, walk };
  };

  test.each([0, 1, 2, 3])(
    "one short page of %i records in the middle does not end the walk",
    async (length) => {
      for (const isDriftSafe of [true, false]) {
        for (const prefetch of prefetches) {
          for (const short of [1, 2, 3, 5]) {
            const most = (request: number) => (request === short ? length : 200);
            const { list, reports, walk } = walkOverCut(1_000, { isDriftSafe, prefetch }, most);
            const ids = idsOf(await pagesOf(walk));
            expect({ prefetch, short, ...missedAndRepeated(list, ids) }).toEqual({
              prefetch,
              short,
              ...nobody,
            });
            expect([ids.length, reports]).toEqual([1_000, []]);
          }
        }
      }
    },
  );

  test.each([1, 2])("reads to the end when later pages hold at most %i records", async (length) => {
    for (const prefetch of prefetches) {
      const most = (request: number) => (request === 1 ? 200 : length);
      const { list, walk } = walkOverCut(60, { limit: 20, prefetch }, most);
      expect({ prefetch, ...missedAndRepeated(list, idsOf(await pagesOf(walk))) }).toEqual({
        prefetch,
        ...nobody,
      });
    }
  });

  test("reports the missing records after three requests that return none", async () => {
    const { list, reports, walk } = walkOverCut(1_000, {}, () => 0);
    expect(idsOf(await pagesOf(walk))).toEqual([]);
    expect(list.requests).toHaveLength(3);
    expect(reports).toEqual(["1000 of 1000"]);
  });

  test("a total that is too large costs two more requests than no total", async () => {
    const requestsFor = async (totals: Totals): Promise<number> => {
      const list = still(350, { totals });
      await pagesOf(walkOver(list, { prefetch: 0 }));
      return list.requests.length;
    };
    expect([await requestsFor("true"), await requestsFor("missing"), await requestsFor("too large")]).toEqual(
      [2, 3, 5],
    );
  });

  test("yields a record that a page repeats once, and every record without an id", async () => {
    const [a, b, c] = [{ id: "a" }, { id: "b" }, { id: "c" }];
    const pages = [{ data: [a, b, a, c, b], total: 5 }];
    const fetch = async ({ skip }: PageRequest) => pages[skip === 0 ? 0 : 1] ?? { data: [], total: 5 };
    expect(idsOf(await pagesOf(walkOver(still(0), { fetch, prefetch: 0 })))).toEqual(["a", "b", "c"]);
    const second = [
      { data: [a, b], total: 5 },
      { data: [a, b, c, { id: "d" }, c], total: 5 },
    ];
    const later = async ({ skip }: PageRequest) =>
      skip > 0 ? { data: [], total: 5 } : (second.shift() ?? { data: [] });
    expect(idsOf(await pagesOf(walkOver(still(0), { fetch: later, limit: 2, prefetch: 0 })))).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
    const nameless = { data: [{ id: "" }, { id: "" }], total: 2 };
    const twice = async () => nameless;
    expect(idsOf(await pagesOf(walkOver(still(0), { fetch: twice, prefetch: 0 })))).toEqual(["", ""]);
  });

  test("reads a service once through that returns more than the limit, also without ids", async () => {
    const records = Array.from({ length: 1_000 }, (_, id) => ({ id }));
    for (const prefetch of prefetches) {
      for (const isDriftSafe of [true, false]) {
        for (const hasIds of [true, false]) {
          let requests = 0;
          const fetch = async ({ skip }: PageRequest) => {
            requests += 1;
            if (requests > 500) throw new Error("no end");
            const data = records.slice(skip, skip + 60).map(({ id }) => (hasIds ? { id } : { name: id }));
            return { data, total: 1_000 };
          };
          const walk = new Walk<object>({
            ...{ operation: "x", skip: 0, limit: 50, prefetch, isDriftSafe, start: undefined },
            ...{ onUnstable: () => undefined, onShort: () => undefined, fetch },
          });
          const seen: object[] = [];
          for (let page = await walk.next(); page !== undefined; page = await walk.next())
            seen.push(...page.data);
          expect({ prefetch, isDriftSafe, hasIds, read: seen.length }).toEqual({
            prefetch,
            isDriftSafe,
            hasIds,
            read: 1_000,
          });
        }
      }
    }
  });

  test("rejects with the service's error when it refuses positions within the list", async () => {
    for (const pastEnd of [400, 404] as const) {
      for (const prefetch of prefetches) {
        for (const limit of [60, 200]) {
          const list = still(3_000, { mostSkip: 1_000, pastEnd });
          const walk = walkOver(list, { prefetch, limit });
          await expect(pagesOf(walk)).rejects.toMatchObject({
            status: pastEnd,
            message: "skip is too large",
          });
          await expect(pagesOf(walk)).rejects.toMatchObject({ status: pastEnd });
          expect(list.requests.length).toBeLessThan(250);
        }
      }
    }
  });

  test("reports the missing records when positions within the list are empty", async () => {
    for (const prefetch of prefetches) {
      for (const limit of [60, 200]) {
        const list = still(3_000, { mostSkip: 1_000 });
        const reports: string[] = [];
        const onShort = (missing: number, total: number) => void reports.push(`${missing} of ${total}`);
        const ids = idsOf(await pagesOf(walkOver(list, { prefetch, limit, onShort })));
        expect(ids).toEqual(list.items.slice(0, ids.length).map(({ id }) => id));
        expect(ids.length).toBeGreaterThan(1_000);
        expect(reports).toEqual([`${3_000 - ids.length} of 3000`]);
        expect(list.requests.length).toBeLessThan(250);
      }
    }
  });

  test("a list that was read to its last record ends without a fault, although the service hides the position after it", async () => {
    for (const pastEnd of [undefined, 400] as const) {
      const list = still(200, { mostSkip: 10, pastEnd });
      const reports: string[] = [];
      const onShort = (missing: number, total: number) => void reports.push(`${missing} of ${total}`);
      expect(idsOf(await pagesOf(walkOver(list, { onShort })))).toHaveLength(200);
      expect(reports).toEqual([]);
    }
  });

  test("a list that shrinks while positions are hidden is either read completely, or reported with what is missing", async () => {
    let reported = 0;
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seeded(seed);
      const list = new MovingList({
        ...{ length: 450, order: "newest first", mostSkip: 100 },
        before: (self) => {
          for (let left = random() * 40; left > 1 && self.items.length > seed; left -= 1)
            self.remove(Math.floor(random() * self.items.length));
        },
      });
      const reports: number[] = [];
      const walk = walkOver(list, { onShort: (missing) => void reports.push(missing), prefetch: 0 });
      const { missed } = missedAndRepeated(list, idsOf(await pagesOf(walk)));
      reported += reports.length;
      expect({ seed, isMissed: missed.length > 0 && reports.length === 0, reports }).toEqual({
        ...{ seed, isMissed: false },
        reports: reports.filter((missing) => missing >= 1),
      });
    }
    expect(reported).toBeGreaterThan(0);
  });

  test("reports an end below the count when the service refuses the position after it", async () => {
    for (const pastEnd of [400, 404] as const) {
      const list = still(450, { totals: "too large", pastEnd });
      const reports: string[] = [];
      const onShort = (missing: number, total: number) => void reports.push(`${missing} of ${total}`);
      expect(idsOf(await pagesOf(walkOver(list, { onShort })))).toHaveLength(450);
      expect(reports).toEqual(["907 of 1357"]);
    }
  });

  test("aborts the page fetched ahead that an oversized page already covers", async () => {
    const list = still(280);
    const asked: string[] = [];
    const givenUp: number[] = [];
    const fetch = ({ skip, limit }: PageRequest, signal: AbortSignal) => {
      asked.push(`${skip}+${limit}`);
      signal.addEventListener("abort", () => givenUp.push(skip));
      return list.fetch({ skip, limit: skip === 48 ? 102 : limit });
    };
    const pages = await pagesOf(walkOver(list, { fetch, limit: 50, prefetch: 2 }));
    expect(asked).toEqual(["0+50", "48+52", "98+52", "148+52", "198+52", "248+52"]);
    expect(givenUp).toEqual([98]);
    expect(pages.map(({ data }) => data.length)).toEqual([50, 100, 50, 50, 30]);
  });

  test("ends when the service repeats a record without an id or a total", async () => {
    const list = still(0);
    const fetch = async (request: PageRequest) => {
      await list.fetch(request);
      return { data: [{ id: "" }] };
    };
    await pagesOf(walkOver(list, { fetch, prefetch: 0 }));
    expect(list.requests.length).toBeLessThan(100);
  });

  test("rejects when the service hides known records in every second response", async () => {
    const list = still(200);
    let requests = 0;
    const fetch = async (request: PageRequest) => {
      requests += 1;
      const ids = Array.from({ length: 200 }, (_, at) => `${requests}-${at}`);
      if (requests % 2 === 0) return { data: ids.map((id) => ({ id })), total: 10_000 };
      return { data: list.items.slice(0, requests === 1 ? 200 : 195), total: 10_000, skip: request.skip };
    };
    const walk = walkOver(list, { fetch, prefetch: 0 });
    expect((await walk.next())?.data).toHaveLength(200);
    await expect(walk.next()).rejects.toThrow(
      "contacts.list: the list changes faster than it can be read, or its order is not stable",
    );
    expect(requests).toBe(3_334);
  });

  test("rejects when every third response holds only strangers and the others nothing new", async () => {
    const list = still(10);
    const place = { position: 10, read: 10, longest: 10, recent: list.items.map(({ id }) => id) };
    for (const from of [undefined, place]) {
      let requests = from === undefined ? 0 : 1;
      const fetch = async () => {
        requests += 1;
        if (requests > 10_000) throw new Error("no end");
        if (requests % 3 === 2) return { data: list.items.map((_, at) => ({ id: `${requests}-${at}` })) };
        // Half a page leads back to where the last one began.
        return { data: list.items.slice(requests % 3 === 0 ? 5 : 0) };
      };
      const walk = walkOver(list, { fetch, limit: 10, prefetch: 0, start: from });
      await expect(pagesOf(walk)).rejects.toThrow(
        "changes faster than it can be read, or its order is not stable",
      );
      expect(requests).toBe(3_056);
    }
  });

  test("continues as long as it finds its place again after each loss", async () => {
    const list = still(1_200, { totals: "missing" });
    let strangers = 0;
    let left = 0;
    const fetch = async (request: PageRequest) => {
      left -= 1;
      if (left < 0) return list.fetch(request);
      return { data: Array.from({ length: request.limit }, () => ({ id: `stranger-${strangers++}` })) };
    };
    const walk = walkOver(list, { fetch, limit: 1, prefetch: 0 });
    const ids: string[] = [];
    for (let page = await walk.next(); page !== undefined; page = await walk.next()) {
      ids.push(...page.data.map(({ id }) => id));
      left = 2;
    }
    expect(ids).toEqual(list.items.map(({ id }) => id));
  });

  test("the next call requests a failed page again, also during a search", async () => {
    let left = 3;
    const list = new MovingList({
      length: 1_000,
      order: "oldest first",
      before: (self) => {
        if (self.requests.length > 2 && left-- > 0) throw new Error("500");
      },
    });
    const walk = walkOver(list, { prefetch: 0 });
    const ids = [...((await walk.next())?.data ?? []), ...((await walk.next())?.data ?? [])].map(
      ({ id }) => id,
    );
    list.remove(100, 290);
    for (let failures = 3; failures > 0; failures -= 1) await expect(walk.next()).rejects.toThrow("500");
    ids.push(...idsOf(await pagesOf(walk)));
    expect(missedAndRepeated(list, ids)).toEqual(nobody);
  });

  test("sends no request after a stop", async () => {
    const list = still(5_000, { delay: () => 3 });
    const walk = walkOver(list, { prefetch: 4 });
    await walk.next();
    const before = list.requests.length;
    walk.stop();
    expect(await walk.next()).toBeUndefined();
    expect(list.requests).toHaveLength(before);
  });

  test("aborts the pages fetched ahead when the list moves", async () => {
    let underWay = 0;
    let most = 0;
    const list = new MovingList({ length: 40_000, order: "oldest first" });
    const held = (request: PageRequest, signal: AbortSignal) => {
      underWay += 1;
      most = Math.max(most, underWay);
      signal.addEventListener("abort", () => (underWay -= 1));
      return list.fetch(request);
    };
    const walk = walkOver(list, { prefetch: 4, fetch: held });
    for (let page = await walk.next(); page !== undefined; page = await walk.next()) {
      underWay -= 1;
      list.remove(0, 1);
    }
    expect(most).toBeLessThanOrEqual(5);
  });
});

describe("Walk over a list that begins again behind its end", () => {
  test.each([3, 10, 200, 201, 399, 5_000])("reads %i records once and ends", async (length) => {
    for (const totals of ["missing", "true", "too large"] as const)
      for (const isDriftSafe of totals === "missing" && length > 1_000 ? [true, false] : [true])
        for (const limit of [7, 200]) {
          const list = still(length, { wraps: true, totals });
          const ids = idsOf(await pagesOf(walkOver(list, { limit, isDriftSafe })));
          const least = Math.ceil(length / (limit === 200 ? 198 : 7));
          expect([ids, list.requests.length <= least + 20]).toEqual([list.items.map(({ id }) => id), true]);
        }
  });

  test("ends when it continues from a cursor near the end", async () => {
    const list = still(5_000, { wraps: true, totals: "missing" });
    const pages = await pagesOf(walkOver(list));
    const start = readCursor("contacts.list", pages.at(-2)?.cursor);
    expect(idsOf(await pagesOf(walkOver(list, { start })))).toEqual(pages.at(-1)?.data.map(({ id }) => id));
  });

  test("continues when as many records are added in front as it has read", async () => {
    for (const added of [6, 7, 8, 9, 10, 11, 12, 20]) {
      let hasGrown = false;
      const list = new MovingList({
        length: 30,
        order: "newest first",
        totals: "missing",
        before: (moving, { skip }) => {
          if (skip === 0 || hasGrown) return;
          hasGrown = true;
          for (let at = 0; at < added; at += 1) moving.add(0);
        },
      });
      const ids = idsOf(await pagesOf(walkOver(list, { limit: 10, prefetch: 0 })));
      expect(missedAndRepeated(list, ids)).toEqual(nobody);
    }
  });
});
