import fc from "fast-check";
import { readCursor } from "../../src/paging/cursor.ts";
import { Walk } from "../../src/paging/walk.ts";
import { createRandom } from "../../src/sandbox/random.ts";
import { type Item, MovingList, type Totals } from "./moving-list.ts";

/** A list that changes during a walk. */
export interface Scenario {
  readonly seed: number;
  readonly length: number;
  readonly order: "oldest first" | "newest first" | "by name";
  readonly totals: Totals;
  readonly limit: number;
  readonly cap: number;
  readonly prefetch: number | undefined;
  /** How many records at most are added or removed between two requests. */
  readonly burst: number;
  readonly resumes: boolean;
  readonly fails: boolean;
  readonly namesCap?: boolean;
  readonly pastEnd?: 400 | 404 | undefined;
}

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.integer(),
  length: fc.integer({ min: 0, max: 700 }),
  order: fc.constantFrom("oldest first", "newest first", "by name"),
  totals: fc.constantFrom<Totals>("true", "missing", "too large"),
  limit: fc.constantFrom(1, 3, 10, 50, 200),
  cap: fc.constantFrom(7, 60, 200),
  prefetch: fc.constantFrom(0, 1, 4, 16, undefined),
  burst: fc.constantFrom(1, 3, 20, 300),
  resumes: fc.boolean(),
  fails: fc.boolean(),
  namesCap: fc.boolean(),
  pastEnd: fc.constantFrom(undefined, 400, 404),
});

export interface MissedAndRepeated {
  /** Records that were always in the list, but that the walk did not return. */
  readonly missed: readonly string[];
  readonly repeated: readonly string[];
}

export const missedAndRepeated = (list: MovingList, ids: readonly string[]): MissedAndRepeated => {
  const seen = new Set<string>();
  const repeated = ids.filter((id) => seen.size === seen.add(id).size);
  return { missed: [...list.throughout].filter((id) => !seen.has(id)), repeated };
};

const movingBy = (
  { length, order, totals, cap, burst, fails, namesCap = false, pastEnd }: Scenario,
  random: () => number,
): MovingList => {
  let isMoving = true;
  return new MovingList({
    ...{ length, order, totals, cap, namesCap, pastEnd },
    delay: () => Math.floor(random() * 6),
    before: (self, { skip }) => {
      if (fails && random() < 0.1) throw new Error("500");
      isMoving &&= self.requests.length < 150;
      if (!isMoving) return;
      const count = Math.floor(random() * burst) + 1;
      if (random() < 0.5 && self.items.length < 1_500)
        for (let left = count; left > 0; left -= 1) self.add(random());
      // Remove at a random index, or near the position that is being read, which is the hardest case.
      const place = random() < 0.5 ? random() * self.items.length : skip - random() * count;
      if (random() < 0.5) self.remove(Math.floor(place), count);
    },
  });
};

/** Walks the list to its end. Returns undefined if the walk reports that it lost its position. */
export const walked = async (input: Scenario): Promise<MissedAndRepeated | undefined> => {
  const { cap, limit, prefetch, burst } = input;
  const random = createRandom(input.seed);
  const list = movingBy(input, random);
  const walkFrom = (cursor?: string): Walk<Item> =>
    new Walk<Item>({
      ...{ operation: "contacts.list", fetch: list.fetch, skip: 0, limit, prefetch, isDriftSafe: true },
      start: cursor === undefined ? undefined : readCursor("contacts.list", cursor),
      onUnstable: () => undefined,
      onShort: () => undefined,
    });
  const ids: string[] = [];
  let walk = walkFrom();
  for (;;) {
    const page = await walk.next().catch((error: Error) => {
      if (error.message === "500") return error;
      // If more than a page changes between two requests, the walk may lose its position. It then reports that.
      if (burst > cap && error.message.includes("Start again")) return "lost";
      throw error;
    });
    if (page === "lost") return undefined;
    if (page === undefined) return missedAndRepeated(list, ids);
    if (page instanceof Error) continue;
    ids.push(...page.data.map(({ id }) => id));
    // A cursor contains only a few ids, so it survives only small changes.
    if (input.resumes && burst <= 3 && random() < 0.2) {
      walk.stop();
      walk = walkFrom(page.cursor);
    }
  }
};
