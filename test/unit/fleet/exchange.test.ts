import { expect, test } from "vitest";
import type { BudgetRecord } from "../../../src/fleet/budget-record.ts";
import { Exchange } from "../../../src/fleet/exchange.ts";
import type { BudgetMessage, Message, PartMessage } from "../../../src/fleet/messages.ts";
import type { Change, Place } from "../../../src/fleet/place.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { memoryPlace } from "../../support/memory-place.ts";
import { seeded } from "../../support/simulation.ts";

const windowMs = 10_000;
const budget: BudgetMessage = {
  ...{ max: 1_000, windowMs, dayMax: 1e9, floorMs: 0 },
  ...{ last: undefined, wasAlone: false, charge: 0, pause: undefined },
};

const messageOf = (process: string, ...parts: readonly PartMessage[]): Message => ({
  ...{ process, storeFloorMs: 0, grantAheadMs: 0, budgets: [budget], parts },
});

const ended = (id: string, endedAt: number): PartMessage => ({
  kind: "interactive requests",
  budgets: [0],
  ended: [{ id, weight: 1, wasSent: true, wasAnswered: true, freeAt: [endedAt + windowMs] }],
});

/** A place that says what was written to it. */
const watched = (place: Place) => {
  const written: (readonly Change[])[] = [];
  const requests = { reads: 0, writes: 0 };
  const watching: Place = {
    ...place,
    read: (keys) => {
      requests.reads += 1;
      return place.read(keys);
    },
    write: async (changes) => {
      requests.writes += 1;
      const answer = await place.write(changes);
      if (answer.isWritten) written.push(changes);
      return answer;
    },
  };
  return { written, requests, place: watching };
};

test("the state's time is never ahead of the place's, and no permit returns within a window", async () => {
  const random = seeded(11);
  for (let world = 0; world < 50; world += 1) {
    const clock = new FakeClock();
    const { written, place } = watched(memoryPlace(clock, () => random() * 40));
    const exchanges = Array.from({ length: 3 }, (_, at) => new Exchange(place, `p${at}`, clock));
    for (let at = 0; at < 20; at += 1) {
      const sent = exchanges.flatMap((exchange, number) => {
        if (random() < 0.4) return [];
        const id = `${number}:${at}`;
        const endedAt = clock.wallTime();
        // Within a second, so that most messages are applied to what their process heard.
        return [
          { id, endedAt, reply: exchange.send(["a"], messageOf(`p${number}`, ended(id, clock.now()))) },
        ];
      });
      const before = written.length;
      await clock.advance(400);
      await Promise.all(sent.map(({ reply }) => reply));
      for (const [change] of written.slice(before)) {
        const { heardAt, holders } = JSON.parse(change?.value ?? "") as BudgetRecord;
        expect(heardAt).toBeLessThanOrEqual(clock.wallTime());
        const permits = Object.values(holders).flatMap((holder) => Object.entries(holder.permits));
        for (const { id, endedAt } of sent)
          for (const [name, permit] of permits)
            if (name === id && "ends" in permit)
              expect(permit.ends).toBeGreaterThanOrEqual(endedAt + windowMs);
      }
    }
  }
});

test("the time of a change is at most that of the place when it was written", async () => {
  const clock = new FakeClock();
  const times: number[] = [];
  const memory = memoryPlace(clock, () => 20);
  const place: Place = {
    ...memory,
    write: async ([change, ...others]) => {
      if (change === undefined) throw new Error("no change");
      const { heardAt } = JSON.parse(change.value) as BudgetRecord;
      times.push(clock.wallTime() - heardAt);
      return memory.write([change, ...others]);
    },
  };
  const exchange = new Exchange(place, "p", clock);
  for (let at = 0; at < 5; at += 1) {
    void exchange.send(["a"], messageOf("p", ended(`${at}`, clock.now())));
    await clock.advance(100);
  }
  // First as it was read, 20 ms ago; then as the last answer left, 20 ms ago too.
  expect(times).toEqual([20, 20, 20, 20, 20]);
});

test("a process reads only what it has not heard within a second, and writes again after a lost race", async () => {
  const clock = new FakeClock();
  const { requests, place } = watched(memoryPlace(clock));
  const [one, other] = [new Exchange(place, "p1", clock), new Exchange(place, "p2", clock)];
  await one.send(["a"], messageOf("p1", ended("1", clock.now())));
  await one.send(["a"], messageOf("p1", ended("2", clock.now())));
  expect(requests).toEqual({ reads: 1, writes: 2 });
  await other.send(["a"], messageOf("p2", ended("3", clock.now())));
  await one.send(["a"], messageOf("p1", ended("4", clock.now())));
  expect(requests).toEqual({ reads: 2, writes: 5 });
  await clock.advance(1_001);
  await one.send(["a"], messageOf("p1", ended("5", clock.now())));
  expect(requests).toEqual({ reads: 3, writes: 6 });
});

test("forty processes change a value at once, and lose fewer races than if none gave way", async () => {
  const clock = new FakeClock();
  const { requests, written, place } = watched(memoryPlace(clock, () => 5));
  const sent = Array.from({ length: 40 }, (_, at) =>
    new Exchange(place, `p${at}`, clock).send(["a"], messageOf(`p${at}`, ended(`${at}`, clock.now()))),
  );
  await clock.advance(60_000);
  await Promise.all(sent);
  expect(written).toHaveLength(40);
  // 40 + 39 + … without.
  expect(requests.writes).toBeLessThan(410);
});

test("a write that a client repeats, and that meets what it has written, counts as written", async () => {
  const clock = new FakeClock();
  const memory = memoryPlace(clock);
  let writes = 0;
  const repeating: Place = {
    ...memory,
    write: async (changes) => {
      writes += 1;
      await memory.write(changes);
      return memory.write(changes);
    },
  };
  await new Exchange(repeating, "p", clock).send(["a"], messageOf("p", ended("1", clock.now())));
  expect(writes).toBe(1);
});

test.each(["foo", "null", "{}", '{"format":2}'])("the value %s is refused by its key", async (value) => {
  const clock = new FakeClock();
  const place = memoryPlace(clock);
  await place.write([{ key: "a", expected: "", version: "v", value }]);
  const sent = new Exchange(place, "p", clock).send(["a"], messageOf("p", ended("1", clock.now())));
  await expect(sent).rejects.toThrow(
    "the value of a is damaged or was written by another version of this package",
  );
});
