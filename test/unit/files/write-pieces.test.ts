import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { writePieces } from "../../../src/files/write-pieces.ts";

test("nothing is written once the sink is being abandoned", async () => {
  const steps: string[] = [];
  const sink = {
    write: async () => void steps.push("write"),
    commit: async () => void steps.push("commit"),
    abandon: async () => {
      steps.push("abandon");
      // As closing a file takes its time.
      for (let turns = 0; turns < 5; turns += 1) await turn();
      steps.push("abandoned");
    },
  };
  async function* pieces() {
    yield { text: "a\n", isRecord: true };
    throw new Error("the source fails");
  }
  await expect(writePieces(sink, pieces(), { append: true })).rejects.toThrow("the source fails");
  await turn();
  expect(steps).toEqual(["abandon", "abandoned"]);
});
