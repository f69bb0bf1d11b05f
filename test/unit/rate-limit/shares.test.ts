import { expect, test } from "vitest";
import { type Head, type Kind, lane, type Resource } from "../../../src/rate-limit/lane.ts";
import { Claims, type Stopped } from "../../../src/rate-limit/shares.ts";

interface Change {
  readonly max?: number;
  readonly perMs?: number;
  readonly leased?: number;
  readonly held?: number;
  readonly backInMs?: number;
  readonly freesInMs?: number;
}

/** The first batch is ready when it frees, and as much as the limit in each window after. */
const resource = (name: string, change: Change = {}): Resource => {
  const { max = 100, perMs = 10_000, held = 0, backInMs = Number.POSITIVE_INFINITY, freesInMs = 0 } = change;
  return {
    name,
    waiters: 0,
    limit: { max, perMs },
    leased: change.leased ?? max,
    has: () => true,
    take: () => undefined,
    want: () => undefined,
    keep: () => undefined,
    rest: () => undefined,
    readyInMs: (amount, each) => freesInMs + ((amount - each) * perMs) / max,
    usedBy: () => held,
    backWithin: (ms) => (ms < backInMs ? 0 : held),
  };
};

/** So many wait in a lane, each with this weight of the last resource. */
const head = (resources: readonly Resource[], { waiting = 1, weight = 1, order = 0 } = {}): Head => {
  const of = lane(resources, resources.at(-1));
  const passage = {
    lane: of,
    weight,
    signal: undefined,
    refusal: () => undefined,
    admitted: () => undefined,
    stopped: () => undefined,
  };
  const waiters = Array.from({ length: waiting }, (_, at) => ({
    order: order + at,
    passage,
    go: () => undefined,
    refuse: () => undefined,
  }));
  for (const waiter of waiters) of.queue.add(waiter);
  const [waiter] = waiters;
  if (waiter === undefined) throw new Error("nobody waits");
  return { of, waiter };
};

const claims = (stopped: readonly Stopped[], of: Resource, heads: readonly Head[]): number =>
  new Claims(stopped, [], heads).of(of);

const stopped = (one: Head, ...missing: readonly Resource[]): Stopped => ({ ...one, missing });

/** Of 100 requests in ten seconds: what is kept for those who wait for events, two a second. */
const kept = ({ requests, events, ...line }: { requests?: Change; events?: Change; waiting?: number }) => {
  const wide = resource("requests", requests);
  const narrow = resource("events", { max: 2, perMs: 1_000, freesInMs: 1_000, ...events });
  const one = stopped(head([wide, narrow], line), narrow);
  return claims([one], wide, [one, head([wide])]);
};

test("for each who waits, as long as it may go before what is taken now would be back", () => {
  expect([1, 3, 18, 19, 40].map((waiting) => kept({ waiting }))).toEqual([1, 3, 18, 18, 18]);
});

test("for those who go a window from now no more", () => {
  expect([9_999, 10_000].map((freesInMs) => kept({ events: { freesInMs } }))).toEqual([1, 0]);
});

test("for none of whom nobody can say when it may go", () => {
  expect(kept({ waiting: 3, events: { freesInMs: Number.POSITIVE_INFINITY } })).toBe(0);
});

test("for none who lack it themselves, nor for those who spend none of it", () => {
  const [requests, emails] = [resource("requests"), resource("emails")];
  const events = resource("events", { max: 2, perMs: 1_000 });
  const lacking = (of: readonly Resource[], ...missing: readonly Resource[]): number => {
    const one = stopped(head(of, { waiting: 9 }), ...missing);
    return claims([one], requests, [one, head([requests])]);
  };
  expect(lacking([requests, events], events)).toBe(9);
  expect(lacking([requests, events], events, requests)).toBe(0);
  expect(lacking([emails, events], events)).toBe(0);
});

test("for as many again as the lane has had of late", () => {
  expect([0, 1, 4].map((held) => kept({ requests: { held } }))).toEqual([1, 2, 5]);
});

test("less what the lane itself has back by then", () => {
  // Ready in 1,000, 1,500, 2,000, 2,500 and 3,000 ms; three are back when the third is, or just after it.
  const back = (backInMs: number): number => kept({ waiting: 2, requests: { held: 3, backInMs } });
  expect([1_000, 1_500, 2_000, 2_001, 3_000, 3_001].map(back)).toEqual([2, 2, 2, 3, 4, 5]);
});

test("less half of what others have back in the last quarter of that time, rounded up for the lane", () => {
  // The fourth goes in 2,500 ms.
  const countedOn = (others: number, backInMs: number): number => {
    const requests = resource("requests");
    const events = resource("events", { max: 2, perMs: 1_000, freesInMs: 1_000 });
    const one = stopped(head([requests, events], { waiting: 4 }), events);
    const backWithin = (ms: number, kind?: Kind): number =>
      (kind === undefined && ms >= backInMs ? others : 0) + (ms >= 2_000 ? 1 : 0);
    Object.assign(requests, { backWithin });
    return claims([one], requests, [one, head([requests])]);
  };
  const at = (backInMs: number): number[] => [0, 1, 2, 3].map((others) => countedOn(others, backInMs));
  expect(at(2_501)).toEqual([3, 3, 3, 3]);
  expect(at(2_500)).toEqual([3, 3, 2, 2]);
  expect(at(1_876)).toEqual([3, 3, 2, 2]);
  expect(at(1_875)).toEqual([3, 3, 3, 3]);
});

test("of limits that processes share only for two of their windows", () => {
  const events = { max: 4, freesInMs: 0 };
  expect(kept({ waiting: 30, events })).toBe(30);
  expect(kept({ waiting: 30, events: { ...events, leased: 2 } })).toBe(8);
});

test("no more than brings the lane to its fair share", () => {
  const fair = (leased: number, held = 0): number => kept({ waiting: 9, requests: { leased, held } });
  expect([fair(1), fair(2), fair(9), fair(100)]).toEqual([0, 1, 4, 9]);
  expect([fair(9, 3), fair(9, 4), fair(9, 5)]).toEqual([1, 0, 0]);
});

test("what others cannot use of their shares is shared by the rest", () => {
  const requests = resource("requests", { leased: 12 });
  const events = resource("events", { max: 2, perMs: 1_000 });
  const emails = resource("emails", { max: 12, perMs: 60_000 });
  const one = stopped(head([requests, events], { waiting: 20 }), events);
  const plain = head([requests]);
  // Two of twelve a minute may go in ten seconds: of the twelve requests ten are left for two lanes.
  expect(claims([one], requests, [one, plain, head([requests, emails])])).toBe(5);
  // Several clients that wait for the same are one.
  expect(claims([one], requests, [plain, one, plain])).toBe(6);
  expect(claims([one], requests, [plain, one, head([requests])])).toBe(4);
  expect(claims([one], requests, [plain, one, head([emails])])).toBe(6);
  const slow = stopped(head([requests, emails], { waiting: 20 }), emails);
  expect(claims([slow], requests, [slow, plain])).toBe(2);
  expect(claims([one, slow], requests, [one, plain, slow])).toBe(7);
});

test("nothing of its share for a lane that could use the whole limit: it is this that holds it up", () => {
  expect([9, 10].map((max) => kept({ waiting: 9, events: { max } }))).toEqual([9, 0]);
});

test("a fair share goes by what each can use, rounded up, and by what is then left for the others", () => {
  const requests = (leased: number): Resource => resource("requests", { leased });
  const of = (wide: Resource, max: number, waiting = 20): Stopped => {
    const narrow = resource("events", { max });
    return stopped(head([wide, narrow], { waiting }), narrow);
  };
  // Of eleven the emails can use three, and the two others get half of the rest.
  const eleven = requests(11);
  const one = of(eleven, 20);
  expect(claims([one], eleven, [of(eleven, 3), one, head([eleven])])).toBe(4);
  // Of twelve it can use six, whoever comes before it.
  const twelve = requests(12);
  const six = of(twelve, 6);
  expect(claims([six], twelve, [of(twelve, 2), six])).toBe(6);
  const emails = resource("emails", { max: 13, perMs: 60_000 });
  const slow = stopped(head([twelve, emails], { waiting: 20 }), emails);
  expect(claims([slow], twelve, [slow, head([twelve])])).toBe(3);
});

test("with no more than one batch of permits here a lane counts for those", () => {
  const requests = resource("requests", { leased: 40 });
  const kept = [24, 25, 26].map((leased) => {
    const events = resource("events", { max: 50, perMs: 5_000, leased });
    const one = stopped(head([requests, events], { waiting: 9, weight: 25 }), events);
    return claims([one], requests, [one, head([requests])]);
  });
  expect(kept).toEqual([4, 2, 3]);
});

test("of a long line a hundred are looked at", () => {
  expect(kept({ waiting: 200, requests: { max: 1_000 }, events: { max: 50 } })).toBe(100);
});

test("by batches where it is spent by weight, and by requests where another is", () => {
  const requests = resource("requests");
  const events = resource("events", { max: 50, perMs: 1_000 });
  const batches = head([requests, events], { waiting: 3, weight: 25 });
  expect(claims([stopped(batches, events)], requests, [batches, head([requests])])).toBe(3);
  const ofMany = (held: number): number => {
    const many = resource("many", { max: 500, perMs: 1_000, held });
    const line = head([requests, many], { waiting: 3, weight: 25 });
    return claims([stopped(line, requests)], many, [line]);
  };
  // As many again as went: two and a bit.
  expect([ofMany(0), ofMany(60)]).toEqual([75, 125]);
  const late = resource("events", { max: 50, perMs: 1_000, freesInMs: 9_000 });
  const ofLate = head([requests, late], { waiting: 9, weight: 25 });
  expect(claims([stopped(ofLate, late)], requests, [ofLate, head([requests])])).toBe(2);
  // A batch larger than the limit goes alone, and still goes.
  const large = head([requests, events], { waiting: 3, weight: 500 });
  expect(claims([stopped(large, events)], requests, [large, head([requests])])).toBe(1);
});

test("of nothing that the lane lacks itself, or does not spend", () => {
  const [requests, events, emails] = [resource("requests"), resource("events"), resource("emails")];
  const one = stopped(head([requests, events]), requests, events);
  expect([requests, events, emails].map((each) => claims([one], each, [one]))).toEqual([0, 0, 0]);
});

test("where it lacks two things, for those whom both let go", () => {
  const requests = resource("requests");
  const soon = resource("soon", { max: 10, perMs: 1_000 });
  const late = resource("late", { max: 1, perMs: 5_000 });
  const one = stopped(head([requests, soon, late], { waiting: 5 }), soon, late);
  expect(claims([one], requests, [one, head([requests])])).toBe(2);
  const later = resource("later", { max: 1, perMs: 5_000, freesInMs: 10_000 });
  const none = stopped(head([requests, soon, later], { waiting: 5 }), soon, later);
  expect(claims([none], requests, [none, head([requests])])).toBe(0);
});

/**
 * Ten wait for events, two a second, from the first place on; in another lane one stands at `order`. Of the twelve
 * requests here both lanes hold some.
 */
const keptFrom = (
  held: { stopped?: number; other?: number },
  { order = 0, backInMs = 10_001, emails = 99, leased = 12 } = {},
) => {
  const events = resource("events", { max: 2, perMs: 1_000, freesInMs: 1_000 });
  const line = (wide: Resource): Stopped => stopped(head([wide, events], { waiting: 10, order: 1 }), events);
  const requests = resource("requests", { leased, backInMs });
  const one = line(requests);
  const other = head([requests, resource("emails", { max: emails, perMs: 10_000 })], { order });
  const usedBy = (kind: Kind): number => (kind === one.of.kind ? held.stopped : held.other) ?? 0;
  const backWithin = (ms: number, kind: Kind): number => (ms < backInMs ? 0 : usedBy(kind));
  Object.assign(requests, { usedBy, backWithin });
  return new Claims([one], [other], [one, other]).from(other, requests);
};

test("from one beyond an equal share, what brings the stopped lane to its own", () => {
  const stoppedHolds = [0, 4, 5, 6, 7];
  expect(stoppedHolds.map((count) => keptFrom({ stopped: count, other: 6 }))).toEqual([6, 2, 1, 0, 0]);
});

test("from one within an equal share, nothing for those who came later", () => {
  expect([0, 5, 6].map((count) => keptFrom({ other: count }))).toEqual([0, 0, 6]);
  expect([5, 6].map((count) => keptFrom({ other: count }, { leased: 13 }))).toEqual([0, 6]);
});

test("an equal share is no more than a lane can use", () => {
  expect([1, 2].map((count) => keptFrom({ other: count }, { emails: 2 }))).toEqual([0, 10]);
});

test("for those who came first also beyond their share, as many as what they lack lets through in its window", () => {
  const orders = [0, 1, 2, 11];
  expect(orders.map((order) => keptFrom({ stopped: 8 }, { order }))).toEqual([0, 1, 2, 2]);
  expect(orders.map((order) => keptFrom({ stopped: 8 }, { order, backInMs: 1_500 }))).toEqual([0, 1, 1, 1]);
});

test("of what its kind has used a lane takes back its share, also from those who came first", () => {
  const taking = (other: number, emails: number): number => keptFrom({ other }, { order: 11, emails });
  expect([taking(0, 9), taking(1, 9), taking(5, 9), taking(6, 9)]).toEqual([2, 0, 0, 6]);
  // One that could use all of the hundred has nothing of its own.
  expect([taking(1, 99), taking(1, 100)]).toEqual([0, 2]);
});

test("with too few permits for one request a lane counts for what the whole limit lets through", () => {
  const requests = resource("requests", { leased: 12 });
  const events = resource("events", { max: 50, perMs: 1_000, leased: 24 });
  const one = stopped(head([requests, events], { waiting: 9, weight: 25 }), events);
  const emails = head([requests, resource("emails", { max: 6, perMs: 10_000 })]);
  expect(claims([one], requests, [one, emails])).toBe(4);
});

test("for a lane whose first can go, and will be stopped by that: from one that could use all, and from no other", () => {
  const never = Number.POSITIVE_INFINITY;
  const slots = resource("concurrency", { max: 16, perMs: 0, freesInMs: never });
  const from = (held: number, order: number): readonly number[] => {
    // When it is ready itself is nothing to those who have it in hand.
    const requests = resource("requests", { freesInMs: never });
    const events = resource("events", { max: 2, perMs: 1_000 });
    const batches = head([slots, requests, events], { waiting: 9, order: 1 });
    const plain = head([slots, requests], { order });
    const emails = head([slots, requests, resource("emails", { max: 6, perMs: 10_000 })], { order: 50 });
    const all = [plain, batches, emails];
    Object.assign(requests, { usedBy: (kind: Kind) => (kind === plain.of.kind ? held : 0) });
    return all.map((one) => new Claims([], all, all).from(one, requests));
  };
  // Within an equal share to those who came first only, and to as many as a window of theirs lets through.
  expect([from(0, 0), from(0, 60)]).toEqual([
    [0, 0, 0],
    [3, 0, 0],
  ]);
  expect(from(40, 0)).toEqual([10, 0, 0]);
});
