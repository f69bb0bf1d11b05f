import { expect, test } from "vitest";
import { InFlight } from "../../../src/batch/in-flight.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";

test("runs no more than its limit at once", async () => {
  const flight = new InFlight(3);
  let running = 0;
  let most = 0;
  for (let left = 20; left > 0; left -= 1) {
    await flight.add(async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
    });
  }
  await flight.settled();
  expect([most, running]).toEqual([3, 0]);
});

test("the first failure is reported once everything under way has ended", async () => {
  const flight = new InFlight(3);
  let isSlowDone = false;
  await flight.add(async () => {
    await turn();
    await turn();
    isSlowDone = true;
  });
  await flight.add(async () => Promise.reject(new Error("first")));
  await turn();
  await expect(flight.add(async () => Promise.reject(new Error("never run")))).rejects.toThrow("first");
  expect(isSlowDone).toBe(true);
  await expect(flight.settled()).rejects.toThrow("first");
});

test("of several failures the first is reported", async () => {
  const flight = new InFlight(3);
  for (const name of ["first", "second"]) {
    await flight.add(async () => {
      await turn();
      throw new Error(name);
    });
  }
  await expect(flight.settled()).rejects.toThrow("first");
});

test("next resolves when one task has ended, and reports a failure once all have ended", async () => {
  const clock = new FakeClock();
  const flight = new InFlight(3);
  for (const ms of [10, 20, 30]) {
    await flight.add(async () => {
      await clock.sleep(ms);
      if (ms === 20) throw new Error("first");
    });
  }
  await clock.until(flight.next());
  expect(clock.now()).toBe(10);
  await expect(clock.until(flight.next())).rejects.toThrow("first");
  expect(clock.now()).toBe(30);
});
