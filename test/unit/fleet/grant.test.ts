import { expect, test } from "vitest";
import type { BudgetRecord } from "../../../src/fleet/budget-record.ts";
import { grant } from "../../../src/fleet/grant.ts";
import type { BudgetMessage, BudgetReply, Message } from "../../../src/fleet/messages.ts";

const kind = "interactive requests";
const budget: BudgetMessage = {
  ...{ max: 2, windowMs: 10_000, dayMax: 1e9, floorMs: 0, born: "", writes: 0, dayUsed: 0, knownAt: 0 },
  ...{ aheadMs: 0, ageMs: 0, tripMs: 0, wasAlone: false, charge: 0, pauseMs: 0, pausedBy: "" },
};

const asking = (ids: readonly string[], own: Partial<BudgetMessage> = {}): Message => ({
  ...{ process: "p", storeFloorMs: 0, soonMs: 100, budgets: [{ ...budget, ...own }] },
  parts: [
    {
      ...{ kind, budgets: [0], ended: [] },
      ask: { shares: [2], leastReserve: 0, leaseMs: 60_000, requests: ids.map((id) => ({ id, weight: 1 })) },
    },
  ],
});

const ending = (id: string, coolMs: number): Message => ({
  ...asking([]),
  parts: [
    { kind, budgets: [0], ended: [{ id, weight: 1, wasSent: true, wasAnswered: true, coolMs: [coolMs] }] },
  ],
});

/** Applies a message to a copy of what is stored, as a place keeps it. */
const apply = (records: readonly (BudgetRecord | undefined)[], message: Message, now: number) =>
  grant(
    records.map((record) => structuredClone(record)),
    message,
    now,
  );

const knownOf = ({ born, writes, at, dayUsed }: BudgetReply) => ({ born, writes, knownAt: at, dayUsed });

test("a request whose answer was lost goes no sooner than it was granted for", () => {
  const first = apply([undefined], asking(["1", "2"]), 0);
  const ended = apply(first.records, ending("1", 90), 0);
  const soon = apply(ended.records, asking(["3"]), 10);
  expect(soon.reply.parts[0]?.granted).toEqual([81]);
  const again = apply(soon.records, asking(["3"]), 20);
  expect(again.reply.parts[0]?.granted).toEqual([71]);
});

test("a request whose answer was lost waits for a pause that came meanwhile", () => {
  const first = apply([undefined], asking(["1"]), 0);
  const paused = apply(first.records, { ...asking([], { pauseMs: 500 }), parts: [] }, 10);
  const again = apply(paused.records, asking(["1"]), 20);
  expect(again.reply.parts[0]).toEqual({ granted: [], waitMs: 490, lacks: 0 });
  expect(apply(again.records, asking(["1"]), 510).reply.parts[0]?.granted).toEqual([0]);
});

test("a state older than one that a process knows counts as lost", () => {
  const old = apply([undefined], asking([]), 0);
  const later = apply(old.records, asking(["1", "2"]), 10);
  const [known] = later.reply.budgets;
  if (known === undefined) throw new Error("no reply");
  // A failover has forgotten that both permits are taken.
  const restored = apply(old.records, asking(["3"], { ...knownOf(known), ageMs: 90 }), 100);
  expect(restored.reply.parts[0]).toMatchObject({ granted: [], lacks: 0 });
  expect(restored.reply.budgets[0]).toMatchObject({ dayUsed: 2 });
  const [copy] = restored.records;
  expect(apply([copy], asking(["3"]), 13_200).reply.parts[0]?.granted).toEqual([0]);
});
