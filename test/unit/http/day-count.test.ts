import { expect, test } from "vitest";
import { DayCount } from "../../../src/http/day-count.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const dayMs = 86_400_000;

test("any 24 hours are a day", async () => {
  const clock = new FakeClock();
  const day = new DayCount("emailsPerDay", 3, clock);
  day.add(2);
  await clock.advance(dayMs / 2);
  day.add(1);
  await clock.advance(dayMs / 2);
  expect([day.used, day.has(1)]).toEqual([3, false]);
  await clock.advance(60_000);
  expect([day.used, day.has(2), day.has(3)]).toEqual([1, true, false]);
});

test("it tells when enough frees for a batch, not only for one", async () => {
  const clock = new FakeClock();
  const day = new DayCount("eventsPerDay", 10, clock);
  day.add(4);
  await clock.advance(3_600_000);
  day.add(6);
  expect([day.freesInMs(1), day.freesInMs(5)]).toEqual([dayMs + 60_000 - 3_600_000, dayMs + 60_000]);
});

test("what was not sent is taken back", () => {
  const day = new DayCount("eventsPerDay", 10, new FakeClock());
  day.add(10);
  day.add(-10);
  expect(day.used).toBe(0);
});

test("what is taken back in a later minute frees nothing twice", async () => {
  const clock = new FakeClock();
  const day = new DayCount("eventsPerDay", 10, clock);
  day.add(3);
  await clock.advance(60_000);
  day.add(-1);
  day.add(1);
  await clock.advance(dayMs);
  // The two of the first minute are over, the one of the second is not.
  expect(day.used).toBe(1);
});
