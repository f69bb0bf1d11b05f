import { expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { turn } from "../../support/fake-clock.ts";

test("a timer that was due is still undone by what the sockets bring in the same turn", async () => {
  const told: string[] = [];
  const cancel = systemClock.after(1, () => told.push("late"));
  const cancelled = new Promise<void>((resolve) => {
    setTimeout(() => {
      told.push("due");
      cancel();
      resolve();
    }, 1);
  });
  // Blocks the loop until both timers are due, so that they fire in one turn.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  await cancelled;
  await turn();
  expect(told).toEqual(["due"]);
});
