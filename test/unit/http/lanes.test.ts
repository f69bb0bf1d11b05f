import { expect, test } from "vitest";
import { type Lane, Lanes, lane, type Passage, type Resource } from "../../../src/http/lanes.ts";
import type { Limit } from "../../../src/limits.ts";

class Store implements Resource {
  readonly name: string;
  waiters = 0;
  limit: Limit = { max: 10, perMs: 1_000 };
  freesInMs = Number.POSITIVE_INFINITY;
  left: number;
  readonly wanted: number[] = [];
  rested = 0;

  constructor(name: string, left: number) {
    this.name = name;
    this.left = left;
  }

  has(weight: number): boolean {
    return this.left >= weight;
  }

  take(weight: number): void {
    this.left -= weight;
  }

  waitMs(): number {
    return this.freesInMs;
  }

  want(weight: number): void {
    this.wanted.push(weight);
  }

  rest(): void {
    this.rested += 1;
  }
}

const passage = (change: Partial<Passage> = {}): Passage => ({
  weight: 1,
  signal: undefined,
  refusal: () => undefined,
  admitted: () => undefined,
  stopped: () => undefined,
  ...change,
});

/** Lanes, and the order in which the named requests went. */
const gate = () => {
  const lanes = new Lanes();
  const went: string[] = [];
  const enter = (name: string, of: Lane, change: Partial<Passage> = {}): Promise<void> =>
    Promise.resolve(lanes.enter(of, passage({ admitted: () => void went.push(name), ...change })));
  return { lanes, went, enter };
};

test("nothing in the way: it goes without a promise", () => {
  expect(new Lanes().enter(lane([new Store("a", 1)], undefined), passage())).toBe(undefined);
});

test("who came first goes first, also when the next would fit", async () => {
  const events = new Store("events", 1);
  const of = lane([events], events);
  const { lanes, went, enter } = gate();
  const both = [enter("batch", of, { weight: 3 }), enter("single", of)];
  expect(went).toEqual([]);
  events.left = 4;
  lanes.pump();
  await Promise.all(both);
  expect(went).toEqual(["batch", "single"]);
});

test("a stream of small requests cannot starve a large one", () => {
  const events = new Store("events", 2);
  const of = lane([events], events);
  const { lanes, went, enter } = gate();
  void enter("large", of, { weight: 3 });
  for (let at = 0; at < 5; at += 1) void enter(`small ${at}`, of);
  lanes.pump();
  expect([went, events.left]).toEqual([[], 2]);
});

/** Two events wait, and then three requests come that need nothing else. */
const behindEvents = (change: Partial<Store>) => {
  const requests = Object.assign(new Store("requests", 3), { limit: { max: 100, perMs: 10_000 } });
  const events = Object.assign(new Store("events", 0), { limit: { max: 2, perMs: 1_000 }, ...change });
  const { lanes, went, enter } = gate();
  const both = lane([requests, events], events);
  for (const name of ["event 1", "event 2", "event 3"]) void enter(name, both);
  for (const name of ["request 1", "request 2", "request 3"]) void enter(name, lane([requests], undefined));
  return { lanes, went, events, requests };
};

test("what those who came first can use soon is kept for them", () => {
  const { lanes, went, events } = behindEvents({ freesInMs: 1_000 });
  expect(went).toEqual(["request 1"]);
  events.left = 2;
  lanes.pump();
  expect(went).toEqual(["request 1", "event 1", "event 2"]);
});

test("nothing is kept for those who wait longer than what is taken would be away", () => {
  expect(behindEvents({ freesInMs: 10_001 }).went).toEqual(["request 1", "request 2", "request 3"]);
});

test("whoever is held up by what is kept has the resource looked at for all of it", () => {
  expect(behindEvents({ freesInMs: 1_000 }).requests.wanted.at(-1)).toBe(3);
});

test("whoever waits for events takes no requests and holds up no contacts", () => {
  const requests = new Store("requests", 2);
  const events = new Store("events", 0);
  const { went, enter } = gate();
  void enter("event", lane([requests, events], events));
  void enter("contact", lane([requests], requests));
  expect([went, requests.left, requests.waiters]).toEqual([["contact"], 1, 1]);
});

test("lanes that share a budget take turns by the order in which they came", () => {
  const requests = new Store("requests", 0);
  const events = new Store("events", 9);
  const { lanes, went, enter } = gate();
  const ofEvents = lane([requests, events], events);
  const ofContacts = lane([requests], requests);
  void enter("1", ofEvents);
  void enter("2", ofContacts);
  void enter("3", ofEvents);
  void enter("4", ofContacts);
  requests.left = 3;
  lanes.pump();
  expect(went).toEqual(["1", "2", "3"]);
});

test("an abort leaves the line at once, with the signal's reason, and lets the next one go", async () => {
  const events = new Store("events", 1);
  const of = lane([events], events);
  const { went, enter } = gate();
  const abort = new AbortController();
  const large = enter("large", of, { weight: 3, signal: abort.signal });
  void enter("small", of);
  abort.abort("enough");
  await expect(large).rejects.toBe("enough");
  expect([went, events.waiters]).toEqual([["small"], 0]);
});

test("an abort before the line never enters it", async () => {
  const events = new Store("events", 0);
  const { enter } = gate();
  await expect(enter("late", lane([events], events), { signal: AbortSignal.abort("over") })).rejects.toBe(
    "over",
  );
  expect(events.waiters).toBe(0);
});

test("one that goes leaves no listener at its signal", async () => {
  const events = new Store("events", 0);
  const { lanes, enter } = gate();
  const { signal } = new AbortController();
  const listeners: string[] = [];
  const watched = Object.assign(signal, {
    addEventListener: () => listeners.push("added"),
    removeEventListener: () => listeners.push("removed"),
  });
  const going = enter("one", lane([events], events), { signal: watched });
  events.left = 1;
  lanes.pump();
  await going;
  expect(listeners).toEqual(["added", "removed"]);
});

test("a refusal is thrown before the line and rejects in it, and the next one is served", async () => {
  const events = new Store("events", 0);
  const of = lane([events], events);
  const { lanes, went, enter } = gate();
  const usedUp = new Error("used up");
  expect(() => lanes.enter(of, passage({ refusal: () => usedUp }))).toThrow(usedUp);
  let refusal: Error | undefined;
  const refused = enter("refused", of, { refusal: () => refusal });
  void enter("next", of);
  refusal = usedUp;
  events.left = 1;
  lanes.pump();
  await expect(refused).rejects.toBe(usedUp);
  expect(went).toEqual(["next"]);
});

test("a resource is told what the first in line wants, and when nobody waits any more", () => {
  const events = new Store("events", 0);
  const of = lane([events], events);
  const { lanes, enter } = gate();
  void enter("five", of, { weight: 5 });
  void enter("one", of);
  events.left = 6;
  lanes.pump();
  expect([events.wanted, events.rested]).toEqual([[5, 5], 1]);
});
