import { beforeAll, describe, expect, test } from "vitest";
import { brokenAnswers } from "./faults/support/broken-answers.ts";
import { connections, nobody } from "./faults/support/connections.ts";
import { expected } from "./faults/support/expected.ts";
import type { FaultCase, Times } from "./faults/support/fault-case.ts";
import { inParallel } from "./faults/support/in-parallel.ts";
import { type Cell, clean, runCell } from "./faults/support/run-cell.ts";
import { sampleOf } from "./faults/support/sample.ts";
import { statuses } from "./faults/support/statuses.ts";
import { subjects } from "./faults/support/subjects.ts";

/** Arranged by way of the pool's own sockets, or told otherwise by a fetch: below. */
const leftOut = new Set([
  "a refused connection",
  "a host name that does not resolve",
  "a connection that never opens",
  "a keep-alive connection that closes while the request is sent",
  "a server that does not speak TLS",
  "a corrupt gzip body",
]);

/** The one of these that a fetch can be made to meet. */
const refused: FaultCase = {
  name: "nobody listening",
  says: "nothing left",
  error: "ConnectionError",
  applies: false,
  times: ["always"],
  arrange: nobody,
};

const faults: readonly FaultCase[] = [refused, ...connections, ...statuses, ...brokenAnswers].filter(
  ({ name }) => !leftOut.has(name),
);

/** One of each kind, and those that are special: a batch, an answer without a body. */
const chosen = [
  "contacts.list",
  "contacts.update",
  "contacts.create",
  "events.record",
  "events.recordBatch",
  "emails.send",
  "emails.scheduled.cancel",
];

const timesOf = ({ name, times }: FaultCase): readonly Times[] =>
  name === "an untrusted certificate" ? ["always"] : (times ?? ["once", "always"]);

const allCells: readonly Cell[] = faults.flatMap((fault) =>
  timesOf(fault).flatMap((times) =>
    subjects
      .filter(({ name, operation }) => chosen.includes(name) && (fault.only ?? operation) === operation)
      .map((subject): Cell => ({ subject, fault, times, fetch: globalThis.fetch })),
  ),
);

/** As of the matrix: every fault as often as it comes, and every operation under every class of faults. */
const pairsOf = ({ fault, subject, times }: Cell): readonly string[] => [
  `${fault.name}, ${times}`,
  `${subject.name}: ${fault.says}, ${fault.error}`,
];
const cells = process.env.TOUCHPOINT_FAULTS === "all" ? allCells : sampleOf(allCells, pairsOf);

let found: ReadonlyMap<Cell, Awaited<ReturnType<typeof runCell>>>;

beforeAll(async () => {
  found = await inParallel(cells, 48, runCell);
}, 240_000);

describe("a fault has the same result through a custom fetch as through the client's own pool", () => {
  test.each(faults.map((fault) => [fault.name, fault] as const))("%s", (_name, fault) => {
    const own = cells.filter((cell) => cell.fault === fault);
    const told = (finding: (cell: Cell) => object | undefined) =>
      own.map((cell) => ({ cell: `${cell.subject.name}, ${cell.times}`, ...finding(cell) }));
    expect(told((cell) => found.get(cell))).toEqual(
      told(({ subject, times }) => ({ ...expected(subject, fault, times), proof: clean })),
    );
  });
});

const toldOf = (faultName: string, name: string) => {
  const fault = [...connections, ...brokenAnswers].find((each) => each.name === faultName);
  const subject = subjects.find((each) => each.name === name);
  if (fault === undefined || subject === undefined) throw new Error("no such cell");
  return runCell({ subject, fault, times: "always", fetch: globalThis.fetch });
};

test("a fetch does not reveal that TLS failed before the first byte, so the outcome is unknown", async () => {
  expect(await toldOf("a server that does not speak TLS", "emails.send")).toEqual({
    told: "ConnectionError",
    outcome: "unknown",
    requests: 0,
    effects: 0,
    proof: clean,
  });
});

test.each([
  ["emails.send", "unknown", 1, 1],
  ["events.record", "unknown", 3, 1],
  ["contacts.list", "not-applied", 3, 0],
])(
  "a body that a fetch cannot unpack counts as a broken connection: %s",
  async (name, outcome, requests, effects) => {
    expect(await toldOf("a corrupt gzip body", name)).toEqual({
      told: "ConnectionError",
      outcome,
      requests,
      effects,
      proof: clean,
    });
  },
);
