import { expect, test } from "vitest";
import type { BudgetRecord } from "../../../src/fleet/budget-record.ts";
import { grant } from "../../../src/fleet/grant.ts";
import type { BudgetMessage, BudgetReply, Message, PartMessage } from "../../../src/fleet/messages.ts";

const kind = "interactive requests";
const budget: BudgetMessage = {
  ...{ max: 2, windowMs: 10_000, dayMax: 1e9, floorMs: 0 },
  ...{ last: undefined, wasAlone: false, charge: 0, pause: undefined },
};

const asking = (ids: readonly string[], own: Partial<BudgetMessage> = {}): Message => ({
  ...{ process: "p", storeFloorMs: 0, grantAheadMs: 100, budgets: [{ ...budget, ...own }] },
  parts: [
    {
      ...{ kind, budgets: [0], ended: [] },
      ask: { shares: [2], leastReserve: 0, leaseMs: 60_000, requests: ids.map((id) => ({ id, weight: 1 })) },
    },
  ],
});

const ending = (id: string, freeAt: number): Message => ({
  ...asking([]),
  parts: [
    { kind, budgets: [0], ended: [{ id, weight: 1, wasSent: true, wasAnswered: true, freeAt: [freeAt] }] },
  ],
});

/** Applies a message to a copy of what is stored, as a place keeps it. The clocks of process and place agree. */
const apply = (records: readonly (BudgetRecord | undefined)[], message: Message, now: number) =>
  grant(
    records.map((record) => structuredClone(record)),
    message,
    { now, sentAt: now },
  );

const lastOf = (reply: BudgetReply) => ({ ...reply, sentAt: reply.at, heardAt: reply.at });

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
  const paused = apply(first.records, { ...asking([], { pause: { until: 510, by: "" } }), parts: [] }, 10);
  const again = apply(paused.records, asking(["1"]), 20);
  expect(again.reply.parts[0]).toEqual({ granted: [], waitMs: 490, lacks: 0 });
  expect(apply(again.records, asking(["1"]), 510).reply.parts[0]?.granted).toEqual([0]);
});

test("a state older than one that a process knows counts as lost", () => {
  const old = apply([undefined], asking([]), 0);
  const later = apply(old.records, asking(["1", "2"]), 10);
  const [last] = later.reply.budgets;
  if (last === undefined) throw new Error("no reply");
  // A failover has forgotten that both permits are taken.
  const restored = apply(old.records, asking(["3"], { last: lastOf(last) }), 100);
  expect(restored.reply.parts[0]).toMatchObject({ granted: [], lacks: 0 });
  expect(restored.reply.budgets[0]).toMatchObject({ dayUsed: 2 });
  const [copy] = restored.records;
  expect(apply([copy], asking(["3"]), 13_200).reply.parts[0]?.granted).toEqual([0]);
});

const partOf = (kindOfPart: string, ...ids: readonly string[]): PartMessage => ({
  ...{ kind: kindOfPart, budgets: [0], ended: [] },
  ask: { shares: [2], leastReserve: 0, leaseMs: 60_000, requests: ids.map((id) => ({ id, weight: 1 })) },
});

test("of one message, background work goes first as far as it is due, and then interactive requests", () => {
  const parts = [partOf("interactive requests", "1", "2"), partOf("background requests", "3", "4")];
  const { reply } = apply([undefined], { ...asking([], { max: 3 }), parts }, 1e12);
  expect(reply.parts.map(({ granted }) => granted)).toEqual([[0, 0], [0]]);
});

test("a process that gives up does not end the share of its kind for another process", () => {
  const budgets = [
    { ...budget, max: 4 },
    { ...budget, max: 1 },
  ];
  const events = (process: string, ...ids: readonly string[]): Message => {
    const { ask, ...part } = partOf("interactive events", ...ids);
    const parts = [{ ...part, budgets: [0, 1], ask: ask && { ...ask, shares: [3, 1] } }];
    return { ...asking([]), process, budgets, parts };
  };
  const endedOne = { id: "1", weight: 1, wasSent: true, wasAnswered: true, freeAt: [9_001, 9_001] };
  const messages = [
    events("p", "1"),
    { ...events("p"), parts: [{ kind: "interactive events", budgets: [0, 1], ended: [endedOne] }] },
    events("q", "2"),
    events("r", "3"),
    events("r"),
    { ...asking([]), process: "s", budgets, parts: [partOf("interactive requests", "4", "5", "6")] },
  ];
  let records: readonly (BudgetRecord | undefined)[] = [undefined, undefined];
  const granted = messages.map((message, at) => {
    const next = apply(records, message, at);
    records = next.records;
    return next.reply.parts[0]?.granted.length;
  });
  // One of the four permits cools down, and two are left for events.
  expect(granted).toEqual([1, 0, 0, 0, 0, 1]);
});

test("the shares of processes that are gone do not accumulate while other processes send", () => {
  let records: readonly (BudgetRecord | undefined)[] = [undefined, undefined];
  const wide = { ...budget, max: 100 };
  for (let at = 0; at < 100; at += 1) {
    const part = { ...partOf("interactive events", "1"), budgets: [0, 1] };
    const message = { ...asking([]), process: `p${at}`, budgets: [wide, wide], parts: [part] };
    // Each process sends one message, and its permit holds until after the message of the next process.
    records = apply(records, message, at * 2_000).records;
  }
  expect(Object.keys(records[0]?.kinds ?? {})).toEqual(["p99 interactive events"]);
});
