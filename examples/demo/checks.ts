import { readFile } from "node:fs/promises";
import type { IngestReport } from "touchpoint-sdk";
import { readCsv } from "touchpoint-sdk/files";
import type { SandboxState } from "touchpoint-sdk/sandbox";
import { plan } from "./events.ts";
import { grouped } from "./print.ts";

/** A statement that must be true, and whether it is. */
export interface Check {
  readonly fact: string;
  readonly isRight: boolean;
}

/** What became of the lines of the events file, by kind. Every line is counted once. */
export interface LineCounts {
  readonly lines: number;
  readonly recorded: number;
  readonly repeated: number;
  readonly rejected: number;
  readonly unreadable: number;
}

const count = (what: string, actual: number, expected: number): Check => {
  const isRight = actual === expected;
  return { isRight, fact: `${grouped(actual)} ${what}${isRight ? "" : `, expected ${grouped(expected)}`}` };
};

/** Checks that the file has every contact of the service exactly once. Call it before events add contacts. */
export const checkExport = async (file: string, { contacts }: SandboxState): Promise<Check> => {
  const ids: unknown[] = [];
  for await (const { id } of readCsv(file)) ids.push(id);
  const exported = new Set(ids);
  const isRight = ids.length === contacts.length && contacts.every(({ id }) => exported.has(id));
  return { isRight, fact: `all ${grouped(contacts.length)} contacts are in the file, once each` };
};

/** Counts the lines of the events file that repeat an earlier line, and all lines. */
export const countLines = async (file: string): Promise<Pick<LineCounts, "lines" | "repeated">> => {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return { lines: lines.length, repeated: lines.length - new Set(lines).size };
};

/** Checks that the service recorded every event once, although a process was killed. */
export const checkIngestion = (state: SandboxState, counts: LineCounts, report: IngestReport): Check[] => {
  const { lines, recorded, repeated, rejected, unreadable } = counts;
  const distinctIds = new Set(state.events.map(({ callerId }) => callerId)).size;
  return [
    {
      isRight: report.skipped > 0 && report.unknown === 0,
      fact: `the second run skipped the ${grouped(report.skipped)} events that the first had settled`,
    },
    count("events recorded, none of them twice", distinctIds, plan.distinct),
    {
      isRight: recorded + repeated + rejected + unreadable === lines && recorded === distinctIds,
      fact: `${[recorded, repeated, rejected, unreadable].map(grouped).join(" + ")} = ${grouped(lines)} lines`,
    },
  ];
};

/** Checks that the clients kept the limits by pacing alone. */
export const checkLimits = ({ counts }: SandboxState): Check =>
  count("requests refused with 429", counts.byStatus["429"] ?? 0, 0);
