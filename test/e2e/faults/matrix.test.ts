import { beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../../src/operations/index.ts";
import { brokenAnswers } from "./support/broken-answers.ts";
import { connections } from "./support/connections.ts";
import { expected, type Finding } from "./support/expected.ts";
import { type Cell, clean, runCell } from "./support/run-cell.ts";
import { statuses } from "./support/statuses.ts";
import { subjects } from "./support/subjects.ts";

const faults = [...connections, ...statuses, ...brokenAnswers];

const cells: readonly Cell[] = faults.flatMap((fault) =>
  (fault.times ?? (["once", "always"] as const)).flatMap((times) =>
    subjects
      .filter(({ operation }) => fault.only === undefined || fault.only === operation)
      .map((subject) => ({ subject, fault, times })),
  ),
);

type Result = Awaited<ReturnType<typeof runCell>>;
const results = new Map<Cell, Result>();

// Most cells wait for their own time-outs: many at once, so that the waits overlap.
const cellsAtOnce = 48;

beforeAll(async () => {
  const queue = [...cells];
  const work = async (): Promise<void> => {
    for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
      results.set(cell, await runCell(cell));
    }
  };
  await Promise.all(Array.from({ length: cellsAtOnce }, work));
}, 240_000);

test("every operation of the library is in the matrix", () => {
  const all = Object.values(operations).flatMap((resource) => Object.values(resource).map(({ id }) => id));
  expect(new Set(subjects.map(({ operation }) => operation))).toEqual(new Set(all));
});

describe("no operation is applied twice, stuck or leaky", () => {
  test.each(faults.map((fault) => [fault.name, fault] as const))("under %s", (_name, fault) => {
    const own = cells.filter((cell) => cell.fault === fault);
    const told = (finding: (cell: Cell) => object | undefined) =>
      own.map((cell) => ({ ...finding(cell), cell: `${cell.subject.name}, ${cell.times}` }));
    expect(told((cell) => results.get(cell))).toEqual(
      told(({ subject, times }): Finding & { proof: object } => ({
        ...expected(subject, fault, times),
        proof: clean,
      })),
    );
  });
});
