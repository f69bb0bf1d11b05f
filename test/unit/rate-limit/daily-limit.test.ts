import { expect, test } from "vitest";
import { DailyLimit } from "../../../src/rate-limit/permits.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const dayMs = 86_400_000;
const slotMs = 300_000;

test("any 24 hours are a day", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("emailsPerDay", 3, clock);
  day.add(2);
  await clock.advance(dayMs / 2);
  day.add(1);
  await clock.advance(dayMs / 2);
  expect([day.used, day.has(1)]).toEqual([3, false]);
  await clock.advance(slotMs);
  expect([day.used, day.has(2), day.has(3)]).toEqual([1, true, false]);
});

test("it tells when enough frees for a batch, not only for one", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10, clock);
  day.add(4);
  await clock.advance(3_600_000);
  day.add(6);
  expect([day.resetsInMs(1), day.resetsInMs(5)]).toEqual([dayMs + slotMs - 3_600_000, dayMs + slotMs]);
});

test("what was not sent is taken back", () => {
  const day = new DailyLimit("eventsPerDay", 10, new FakeClock());
  day.add(10);
  day.add(-10);
  expect(day.used).toBe(0);
});

test("what is taken back in a later slot frees nothing twice", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10, clock);
  day.add(3);
  await clock.advance(slotMs);
  day.add(-1);
  day.add(1);
  await clock.advance(dayMs);
  // The two of the first slot are over, the one of the second is not.
  expect(day.used).toBe(1);
});

test("what is counted twice in a slot is forgotten with it", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10, clock);
  day.add(4);
  day.add(3);
  await clock.advance(dayMs + slotMs);
  expect(day.used).toBe(0);
});

test("what fits exactly fits at once", () => {
  const day = new DailyLimit("eventsPerDay", 10, new FakeClock());
  day.add(4);
  expect([day.resetsInMs(6), day.has(6)]).toEqual([0, true]);
});

test("five minutes are over for the day a day after their end, wherever in them something was counted", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 1, clock);
  await clock.advance(30_000);
  day.add(1);
  expect(day.resetsInMs(1)).toBe(dayMs + slotMs - 30_000);
  await clock.advance(dayMs + slotMs - 30_001);
  const before = day.used;
  await clock.advance(1);
  expect([before, day.used]).toEqual([1, 0]);
});

test("what is taken back was counted last, as much of it as there is", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10, clock);
  day.add(3);
  await clock.advance(slotMs);
  day.add(4);
  day.add(-5);
  expect([day.used, day.resetsInMs(9)]).toEqual([2, dayMs]);
  await clock.advance(dayMs);
  expect(day.used).toBe(0);
});

test("what was counted a day ago is over, and cannot be taken back as well", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10, clock);
  day.add(3);
  await clock.advance(dayMs + slotMs);
  expect(day.used).toBe(0);
  day.add(-3);
  expect(day.used).toBe(0);
});

test("of a day whose every minute is used, each five minutes are free again on their own", async () => {
  const clock = new FakeClock();
  const day = new DailyLimit("eventsPerDay", 10_000, clock);
  for (let minute = 0; minute < 1_440; minute += 1) {
    day.add(1);
    await clock.advance(60_000);
  }
  const usedAt: number[] = [];
  for (const minutes of [0, 5, 60, 655, 720]) {
    await clock.advance(minutes * 60_000);
    usedAt.push(day.used);
  }
  expect(usedAt).toEqual([1_440, 1_435, 1_375, 720, 0]);
});

/** A clock that stood still for a time that the wall clock has seen. */
class SleepingClock extends FakeClock {
  wallAheadMs = 0;

  override wallTime(): number {
    return super.wallTime() + this.wallAheadMs;
  }
}

test("the hours for which the machine slept are hours of the day", () => {
  const clock = new SleepingClock();
  const day = new DailyLimit("emailsPerDay", 3, clock);
  day.add(3);
  clock.wallAheadMs = dayMs - 60_000;
  expect([day.used, day.has(1)]).toEqual([3, false]);
  expect(day.resetsInMs(1)).toBe(slotMs + 120_000);
  clock.wallAheadMs = dayMs + slotMs + 60_000;
  expect([day.used, day.has(3)]).toEqual([0, true]);
});

test("a wall clock that is set back, or runs a little fast, lets no day end early", async () => {
  const clock = new SleepingClock();
  const day = new DailyLimit("emailsPerDay", 3, clock);
  clock.wallAheadMs = 3_600_000;
  day.add(2);
  clock.wallAheadMs = -3_600_000;
  day.add(1);
  await clock.advance(dayMs);
  expect([day.used, day.has(1)]).toEqual([3, false]);
  clock.wallAheadMs = 43_000;
  expect(day.used).toBe(3);
  await clock.advance(3_660_000);
  expect(day.used).toBe(0);
});
