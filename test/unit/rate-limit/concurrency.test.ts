import { expect, test } from "vitest";
import { Slots } from "../../../src/rate-limit/concurrency.ts";
import { lane, type Passage, type Resource } from "../../../src/rate-limit/lane.ts";
import { Lanes } from "../../../src/rate-limit/queue.ts";
import { Claims } from "../../../src/rate-limit/shares.ts";

const passage: Passage = {
  lane: lane([], undefined),
  weight: 1,
  signal: undefined,
  refusal: () => undefined,
  admitted: () => undefined,
  stopped: () => undefined,
};

test("as many as there are slots may be in flight", () => {
  const slots = new Slots(2);
  const free = [1, 2].map(() => {
    slots.take();
    return slots.has();
  });
  slots.free();
  expect([new Slots(1).has(), free, slots.has()]).toEqual([true, [true, false], true]);
});

test("who waits for a slot is counted from the first to the last", async () => {
  const slots = new Slots(1);
  const lanes = new Lanes();
  const only = lane([slots], undefined);
  const waiters = [slots.waiters];
  const ways = [1, 2, 3].map(() => {
    const way = lanes.enter(only, passage);
    waiters.push(slots.waiters);
    return way;
  });
  for (const way of ways) {
    await way;
    slots.free();
    lanes.pump();
    waiters.push(slots.waiters);
  }
  expect(waiters).toEqual([0, 0, 1, 2, 1, 0, 0]);
});

test("no slot is kept for one who lacks something else, however soon that is there", () => {
  const slots = new Slots(2);
  const lacked: Resource = Object.assign(new Slots(0), {
    readyInMs: () => 0,
    limit: { max: 10, perMs: 1_000 },
  });
  const of = lane([lacked, slots], lacked);
  const waiter = { order: 0, passage, go: () => undefined, refuse: () => undefined };
  of.queue.add(waiter);
  const one = { of, waiter, missing: [lacked] };
  expect(new Claims([one], [], [one]).of(slots)).toBe(0);
});

test("when a slot comes back is not known", () => {
  const slots = new Slots(2);
  slots.take();
  const told = [slots.readyInMs(), slots.backWithin(), slots.usedBy(), slots.leased];
  expect(told).toEqual([Number.POSITIVE_INFINITY, 0, 0, 2]);
});
