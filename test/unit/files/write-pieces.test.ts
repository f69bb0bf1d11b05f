import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Written } from "../../../src/files/options.ts";
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
  await expect(writePieces(sink, pieces(), { isEager: true })).rejects.toThrow("the source fails");
  await turn();
  expect(steps).toEqual(["abandon", "abandoned"]);
});

/** A sink in memory, and a wait that the first write ends. */
const eager = () => {
  const steps: string[] = [];
  let goOn = (): void => {};
  const isWritten = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const sink = {
    write: async (block: Uint8Array) => void steps.push(Buffer.from(block).toString()),
    commit: async () => void steps.push("commit"),
    abandon: async () => void steps.push("abandon"),
  };
  return { steps, sink, isWritten, goOn };
};

test("what was taken goes out when the source makes it wait, a header alone does not", async () => {
  const { steps, sink, isWritten, goOn } = eager();
  const seen: Written[] = [];
  const onWritten = (written: Written): void => {
    seen.push(written);
    goOn();
  };
  async function* pieces() {
    yield { text: "a\n", isRecord: false };
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(steps).toEqual([]);
    yield { text: "1\n", isRecord: true };
    await isWritten;
    expect(steps).toEqual(["a\n1\n"]);
    yield { text: "2\n", isRecord: true };
  }
  const all = await writePieces(sink, pieces(), { isEager: true, onWritten });
  expect([seen, all]).toEqual([[{ records: 1, bytes: 4 }, all], { records: 2, bytes: 6 }]);
  expect(steps).toEqual(["a\n1\n", "2\n", "commit"]);
});

test.each(["ends", "fails"])("what goes wrong meanwhile is thrown, also when the source %s", async (how) => {
  const { steps, sink, isWritten, goOn } = eager();
  const own = new Error("the cursor cannot be saved");
  const onWritten = (): Promise<void> => {
    goOn();
    return Promise.reject(own);
  };
  async function* pieces() {
    yield { text: "1\n", isRecord: true };
    await isWritten;
    if (how === "fails") throw new Error("stopped");
  }
  await expect(writePieces(sink, pieces(), { isEager: true, onWritten })).rejects.toBe(own);
  expect(steps).toEqual(["1\n", "abandon"]);
});
