import { describe, expect, test } from "vitest";
import { Walk } from "../../../src/paging/walk.ts";
import { everyTotals, idsOf, pagesOf, prefetches, still, walkOver } from "../../support/walks.ts";

describe("Walk over a list that stands still", () => {
  test.each([0, 1, 2, 3, 5, 198, 199, 200, 201, 202, 398, 400, 1_000])(
    "yields each of %i records once, for all totals, limits and caps",
    async (length) => {
      for (const totals of everyTotals) {
        for (const limit of [1, 2, 3, 50, 200]) {
          for (const cap of [1, 2, 3, 10, 100, 200]) {
            // Pages of one to three records: of the short lists and of one longer one.
            if (length > 5 && length !== 200 && Math.min(limit, cap) < 10) continue;
            for (const namesCap of [false, true]) {
              // A short page whose end the total agrees with is what the end of a list looks like.
              const looksLast = !namesCap && (totals === "of the page" || totals === "too small");
              if (looksLast && cap < limit + 2) continue;
              const list = still(length, { totals, cap, namesCap });
              const ids = idsOf(await pagesOf(walkOver(list, { limit, prefetch: 1 })));
              const expected = list.items.map(({ id }) => id);
              expect({ totals, limit, cap, ids }).toEqual({ totals, limit, cap, ids: expected });
            }
          }
        }
      }
    },
  );

  test.each(prefetches)("sends at most 2 %% more requests than necessary, prefetch %s", async (prefetch) => {
    const list = still(20_000);
    await pagesOf(walkOver(list, { prefetch }));
    expect(list.requests.length).toBeLessThanOrEqual(100 * 1.02);
  });

  test("a small page includes the overlap on top and costs no extra request", async () => {
    const list = still(999);
    await pagesOf(walkOver(list, { limit: 50, prefetch: 0 }));
    expect(list.requests).toHaveLength(20);
  });

  test("a walk stays within the service's cap and requests no position twice", async () => {
    const list = still(5_000, { cap: 100 });
    await pagesOf(walkOver(list, { prefetch: 4 }));
    expect(new Set(list.requests.map(({ skip }) => skip)).size).toBe(list.requests.length);
    expect(list.requests.length).toBeLessThanOrEqual(52);
  });

  test("a true total ends the walk without another request", async () => {
    for (const length of [1, 199, 201, 397]) {
      const list = still(length);
      await pagesOf(walkOver(list, { prefetch: 0 }));
      expect(list.requests).toHaveLength(Math.ceil(length / 200));
    }
  });

  test("an empty list takes one request and yields no page", async () => {
    const list = still(0);
    expect(await pagesOf(walkOver(list))).toEqual([]);
    expect(list.requests).toEqual([{ skip: 0, limit: 200 }]);
  });

  test("starts at skip", async () => {
    const list = still(500);
    expect(idsOf(await pagesOf(walkOver(list, { skip: 450 })))).toEqual(
      list.items.slice(450).map(({ id }) => id),
    );
  });

  test("yields all records, also with numeric ids or without ids", async () => {
    for (const name of ["number", "none"]) {
      const records = Array.from({ length: 500 }, (_, id) => (name === "none" ? { name: "x" } : { id }));
      const walk = new Walk<object>({
        ...{ operation: "x", skip: 0, limit: 200, prefetch: 2, isDriftSafe: true, start: undefined },
        onUnstable: () => undefined,
        onShort: () => undefined,
        fetch: async ({ skip, limit }) => ({ data: records.slice(skip, skip + limit), total: 500 }),
      });
      const seen: object[] = [];
      for (let page = await walk.next(); page !== undefined; page = await walk.next())
        seen.push(...page.data);
      expect(seen).toEqual(records);
    }
  });
});
