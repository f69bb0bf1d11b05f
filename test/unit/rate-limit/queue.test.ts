import { expect, test } from "vitest";
import type { Limit } from "../../../src/options/limits.ts";
import { type Kind, type Lane, lane, type Passage, type Resource } from "../../../src/rate-limit/lane.ts";
import { Lanes } from "../../../src/rate-limit/queue.ts";

class Store implements Resource {
  readonly name: string;
  waiters = 0;
  limit: Limit = { max: 10, perMs: 1_000 };
  freesInMs = Number.POSITIVE_INFINITY;
  left: number;
  kept = 0;
  readonly used = new Map<Kind, number>();
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

  get leased(): number {
    return this.limit.max;
  }

  /** The first batch when it frees, and as much as the limit in each window after. */
  readyInMs(amount: number, each: number): number {
    return this.freesInMs + ((amount - each) * this.limit.perMs) / this.limit.max;
  }

  usedBy(kind: Kind): number {
    return this.used.get(kind) ?? 0;
  }

  backWithin(): number {
    return 0;
  }

  keep(amount: number): void {
    this.kept = amount;
  }

  want(weight: number): void {
    this.wanted.push(weight);
  }

  rest(): void {
    this.rested += 1;
  }
}

const passage = (change: Partial<Passage> = {}): Passage => ({
  lane: lane([], undefined),
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
    Promise.resolve(lanes.enter(of, passage({ lane: of, admitted: () => void went.push(name), ...change })));
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

/** Three events wait, two a second, of which the first is ready in a second; then come requests that need nothing else. */
const behindEvents = (left = 5) => {
  const requests = Object.assign(new Store("requests", left), { limit: { max: 100, perMs: 10_000 } });
  const events = Object.assign(new Store("events", 0), { limit: { max: 2, perMs: 1_000 }, freesInMs: 1_000 });
  const { lanes, went, enter } = gate();
  const both = lane([requests, events], events);
  const plain = lane([requests], undefined);
  for (const name of ["event 1", "event 2", "event 3"]) void enter(name, both);
  return { lanes, went, enter, events, requests, plain };
};

test("what those who wait can use soon is kept for them, from one beyond an equal share", () => {
  const { lanes, went, enter, events, requests, plain } = behindEvents();
  requests.used.set(plain.kind, 50);
  for (const name of ["1", "2", "3"]) void enter(`request ${name}`, plain);
  expect([went, requests.kept]).toEqual([["request 1", "request 2"], 3]);
  events.left = 2;
  lanes.pump();
  expect([went.slice(2), requests.left]).toEqual([["event 1", "event 2"], 1]);
});

test("one within an equal share is not held back for others", () => {
  const { went, enter, requests, plain } = behindEvents();
  requests.used.set(plain.kind, 47);
  for (const name of ["1", "2", "3", "4"]) void enter(`request ${name}`, plain);
  expect([went, requests.left]).toEqual([["request 1", "request 2", "request 3"], 2]);
});

test("it is kept also from those who came first", () => {
  const requests = Object.assign(new Store("requests", 0), { limit: { max: 100, perMs: 10_000 } });
  const events = Object.assign(new Store("events", 0), { limit: { max: 2, perMs: 1_000 }, freesInMs: 1_000 });
  const { lanes, went, enter } = gate();
  const plain = lane([requests], undefined);
  requests.used.set(plain.kind, 50);
  for (const name of ["1", "2"]) void enter(`request ${name}`, plain);
  void enter("event", lane([requests, events], events));
  requests.left = 2;
  lanes.pump();
  expect([went, requests.left, requests.kept]).toEqual([["request 1"], 1, 1]);
});

test("whoever is held up by what is kept has the resource looked at for all of it, and is told so", () => {
  const { enter, requests, plain } = behindEvents(3);
  requests.used.set(plain.kind, 50);
  const told: string[] = [];
  void enter("request", plain, { stopped: () => void told.push("request") });
  expect([requests.wanted.at(-1), told]).toEqual([4, ["request"]]);
});

test("nothing is kept any more once nobody waits who could use it", async () => {
  const { lanes, went, enter, events, requests, plain } = behindEvents(3);
  requests.used.set(plain.kind, 50);
  void enter("request", plain);
  expect([went, requests.kept]).toEqual([[], 3]);
  events.freesInMs = Number.POSITIVE_INFINITY;
  lanes.pump();
  expect([went, requests.kept]).toEqual([["request"], 0]);
});

test("whoever waits for events takes no requests and holds up no contacts", () => {
  const requests = new Store("requests", 2);
  const events = new Store("events", 0);
  const { went, enter } = gate();
  void enter("event", lane([requests, events], events));
  void enter("contact", lane([requests], requests));
  expect([went, requests.left, requests.waiters]).toEqual([["contact"], 1, 1]);
});

test("whoever comes behind others of its lane has nobody looked at again", () => {
  const events = new Store("events", 0);
  const of = lane([events], events);
  const { enter } = gate();
  let asked = 0;
  const refusal = (): undefined => {
    asked += 1;
  };
  void enter("first", of, { refusal });
  const before = asked;
  for (let at = 0; at < 5; at += 1) void enter("next", of);
  expect(asked).toBe(before);
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

/** A signal, and what was asked of it. */
const watchedSignal = () => {
  const abort = new AbortController();
  const { signal } = abort;
  const listeners: string[] = [];
  const add = signal.addEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (type: string, listener: () => void) => {
      listeners.push("added");
      add(type, listener);
    },
    removeEventListener: () => listeners.push("removed"),
  });
  return { abort, signal, listeners };
};

test("one that goes leaves no listener at its signal", async () => {
  const events = new Store("events", 0);
  const { lanes, enter } = gate();
  const { signal, listeners } = watchedSignal();
  const going = enter("one", lane([events], events), { signal });
  events.left = 1;
  lanes.pump();
  await going;
  expect(listeners).toEqual(["added", "removed"]);
});

test("one that is aborted leaves no listener at its signal", async () => {
  const events = new Store("events", 0);
  const { enter } = gate();
  const { abort, signal, listeners } = watchedSignal();
  const waiting = enter("one", lane([events], events), { signal });
  abort.abort("enough");
  await expect(waiting).rejects.toBe("enough");
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
  expect([events.wanted, events.rested]).toEqual([[5], 1]);
});

test("it tells what keeps a request from going, and nothing that there is enough of", () => {
  const requests = new Store("requests", 1);
  const events = new Store("events", 4);
  expect(new Lanes().blockers(lane([requests, events], events), 5)).toEqual([events]);
});

test("whoever has left the line is not told that it still has to wait", async () => {
  const [emails, events] = [new Store("emails", 0), new Store("events", 0)];
  const { lanes, enter } = gate();
  const told: string[] = [];
  const abort = new AbortController();
  let isLast = false;
  const tellEmail = (): void => {
    told.push("email");
    if (isLast) abort.abort("enough");
  };
  void enter("email", lane([emails], emails), { stopped: tellEmail });
  const tellEvent = (): void => void told.push("event");
  const event = enter("event", lane([events], events), { signal: abort.signal, stopped: tellEvent });
  expect(told).toEqual(["email", "email", "event"]);
  isLast = true;
  lanes.pump();
  await expect(event).rejects.toBe("enough");
  expect(told.slice(3)).toEqual(["email", "email"]);
});

test("what becomes free while one takes what it spends is not given to the next before it has all", () => {
  const { lanes, went, enter } = gate();
  class Ringing extends Store {
    override take(weight: number): void {
      super.take(weight);
      lanes.pump();
    }
  }
  const requests = new Ringing("requests", 0);
  const events = new Store("events", 1);
  const of = lane([requests, events], events);
  for (const name of ["1", "2"]) void enter(name, of);
  requests.left = 2;
  lanes.pump();
  expect([went, requests.left, events.left]).toEqual([["1"], 1, 0]);
});

/** Two clients that share a limit, and each has slots of its own. */
const twoClients = (left: number) => {
  const events = new Store("events", left);
  const [own, other] = [new Store("own slots", 9), new Store("other slots", 9)];
  const mine = lane([own, events], events);
  const theirs = lane([other, events], events);
  return { ...gate(), events, own, mine, theirs };
};

test("an eviction refuses those who wait for a resource, each with an error of its own, and nobody else", async () => {
  const { lanes, went, enter, events, own, mine, theirs } = twoClients(0);
  const first = enter("first", mine).catch((error: unknown) => error);
  void enter("theirs", theirs);
  const second = enter("second", mine).catch((error: unknown) => error);
  let count = 0;
  lanes.evict(own, () => new Error(`closed ${++count}`));
  expect([await first, await second]).toEqual([new Error("closed 1"), new Error("closed 2")]);
  expect([events.waiters, own.waiters, own.rested]).toEqual([1, 0, 1]);
  events.left = 3;
  lanes.pump();
  expect([went, events.left]).toEqual([["theirs"], 2]);
});

test("whoever stood behind those who were evicted goes at once when it can", async () => {
  const { lanes, went, enter, own, mine, theirs } = twoClients(2);
  const large = enter("large", mine, { weight: 3 });
  void enter("small", theirs);
  expect(went).toEqual([]);
  lanes.evict(own, () => new Error("closed"));
  await expect(large).rejects.toThrow("closed");
  expect(went).toEqual(["small"]);
});
