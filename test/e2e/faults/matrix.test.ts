import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../../src/service/operations.ts";
import { turn } from "../../support/fake-clock.ts";
import { brokenAnswers } from "./support/broken-answers.ts";
import { connections } from "./support/connections.ts";
import { faultsDocument } from "./support/document.ts";
import { expected } from "./support/expected.ts";
import type { Times } from "./support/fault-case.ts";
import { inParallel } from "./support/in-parallel.ts";
import { moments } from "./support/moments.ts";
import { type Cell, clean, runCell } from "./support/run-cell.ts";
import { type Ending, expectedAt, type MomentCell, runMoment } from "./support/run-moment.ts";
import { sampleOf } from "./support/sample.ts";
import { statuses } from "./support/statuses.ts";
import { subjects } from "./support/subjects.ts";

const families = { connections, statuses, brokenAnswers };
const faults = Object.values(families).flat();
const bothTimes: readonly Times[] = ["once", "always"];
const endings: readonly Ending[] = ["an abort", "its deadline"];

const faultCells: readonly Cell[] = faults.flatMap((fault) =>
  (fault.times ?? bothTimes).flatMap((times) =>
    subjects
      .filter(({ operation }) => fault.only === undefined || fault.only === operation)
      .map((subject) => ({ subject, fault, times })),
  ),
);

const momentCells: readonly MomentCell[] = moments.flatMap((moment) =>
  endings.flatMap((ending) =>
    subjects
      .filter((subject) => moment.isUnreachable?.(subject) !== true)
      .map((subject) => ({ subject, moment, ending })),
  ),
);

const familyOf = ({ fault }: Cell): string =>
  Object.entries(families).find(([, family]) => family.includes(fault))?.[0] ?? "";

const isWhole = process.env.TOUCHPOINT_FAULTS === "all" || process.env.UPDATE_DOCS === "1";

/** What a sample must hold at least once: every fault, as often as it comes, and every operation under every class of them. */
const faultPairs = (cell: Cell): readonly string[] => [
  `${cell.fault.name}, ${cell.times}`,
  `${cell.subject.name} under ${familyOf(cell)}: ${cell.fault.says}, ${cell.fault.error}`,
];
const momentPairs = ({ subject, moment, ending }: MomentCell): readonly string[] => [
  `${subject.name} ${moment.name}`,
  `${subject.name}, ${ending}`,
  `${moment.name}, ${ending}`,
];

const ranFaults = isWhole ? faultCells : sampleOf(faultCells, faultPairs);
const ranMoments = isWhole ? momentCells : sampleOf(momentCells, momentPairs);

let byFault: ReadonlyMap<Cell, Awaited<ReturnType<typeof runCell>>>;
let byMoment: ReadonlyMap<MomentCell, Awaited<ReturnType<typeof runMoment>>>;
let leftOpen: readonly string[];

const openResources = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((name) => /^TCP|^TLS|GetAddrInfo/.test(name))
    .sort();

beforeAll(async () => {
  const before = openResources();
  byMoment = await inParallel(ranMoments, 32, runMoment);
  byFault = await inParallel(ranFaults, 48, runCell);
  // A handle that has closed is let go of a turn or two after; one that is left never is.
  for (let turns = 0; turns < 100 && openResources().length > before.length; turns += 1) await turn();
  leftOpen = openResources().slice(before.length);
}, 240_000);

test("every operation of the library is in the matrix", () => {
  const all = Object.values(operations).flatMap((resource) => Object.values(resource).map(({ id }) => id));
  expect(new Set(subjects.map(({ operation }) => operation))).toEqual(new Set(all));
});

test("the process has no more sockets than before the first cell", () => {
  expect(leftOpen).toEqual([]);
});

describe("no operation is applied twice, stuck or leaky", () => {
  test.each(faults.map((fault) => [fault.name, fault] as const))("under %s", (_name, fault) => {
    const own = ranFaults.filter((cell) => cell.fault === fault);
    const told = (finding: (cell: Cell) => object | undefined) =>
      own.map((cell) => ({ cell: `${cell.subject.name}, ${cell.times}`, ...finding(cell) }));
    expect(told((cell) => byFault.get(cell))).toEqual(
      told(({ subject, times }) => ({ ...expected(subject, fault, times), proof: clean })),
    );
  });
});

describe.each(endings)("a call ended by %s settles with the true outcome", (ending) => {
  test.each(moments.map((moment) => [moment.name, moment] as const))("%s", (_name, moment) => {
    const own = ranMoments.filter((cell) => cell.moment === moment && cell.ending === ending);
    const told = (finding: (cell: MomentCell) => object | undefined) =>
      own.map((cell) => ({ cell: cell.subject.name, ...finding(cell) }));
    expect(told((cell) => byMoment.get(cell))).toEqual(told(expectedAt));
  });
});

test("the run included every fault, and every operation with every class of faults at every moment", () => {
  expect(new Set(ranFaults.flatMap(faultPairs))).toEqual(new Set(faultCells.flatMap(faultPairs)));
  expect(new Set(ranMoments.flatMap(momentPairs))).toEqual(new Set(momentCells.flatMap(momentPairs)));
  console.log(
    `fault matrix: ${ranFaults.length + ranMoments.length} of ${faultCells.length + momentCells.length} cells`,
  );
});

// What did not run stands as the contract's table has it: that those that did are the same is asserted above.
test("docs/faults.md matches the results of this run", async () => {
  const document = faultsDocument({
    cells: faultCells.length + momentCells.length,
    faults: faults.map((fault) => {
      const cellOf = (subject: Cell["subject"], times: Times) =>
        faultCells.find((cell) => cell.fault === fault && cell.subject === subject && cell.times === times);
      const lines = subjects.map((subject) => ({
        subject,
        columns: bothTimes.map((times) => {
          const cell = cellOf(subject, times);
          return cell && (byFault.get(cell) ?? expected(subject, fault, times));
        }),
      }));
      return { name: fault.name, lines: lines.filter(({ columns }) => columns.some(Boolean)) };
    }),
    moments: moments.map((moment) => {
      const lines = subjects.map((subject) => ({
        subject,
        columns: endings.map((ending) => {
          const cell = momentCells.find(
            (each) => each.moment === moment && each.subject === subject && each.ending === ending,
          );
          return cell && (byMoment.get(cell) ?? expectedAt(cell));
        }),
      }));
      return { name: moment.name, lines: lines.filter(({ columns }) => columns.some(Boolean)) };
    }),
  });
  const file = new URL("../../../docs/faults.md", import.meta.url);
  if (process.env.UPDATE_DOCS === "1") await writeFile(file, document);
  expect(await readFile(file, "utf8")).toBe(document);
});
