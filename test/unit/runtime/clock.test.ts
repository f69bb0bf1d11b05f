import { expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { turn } from "../../support/fake-clock.ts";

test("a timer that was due is still undone by what the sockets bring in the same turn", async () => {
  const told: string[] = [];
  const cancel = systemClock.after(1, () => told.push("late"));
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      told.push("due");
      cancel();
      resolve();
    }, 1);
  });
  await turn();
  expect(told).toEqual(["due"]);
});
