import type { IngestReport } from "touchpoint-sdk";
import { readCsv } from "touchpoint-sdk/files";
import type { SandboxState } from "touchpoint-sdk/sandbox";
import { plan } from "./events.ts";
import { grouped } from "./say.ts";

/** Something that must hold, and whether it does. */
export interface Check {
  readonly fact: string;
  readonly isRight: boolean;
}

/** What the demo's processes told. */
export interface Told {
  /** Places of the rejected events in the file's readable lines. */
  readonly rejected: ReadonlySet<number>;
  /** Lines that hold no JSON object. */
  readonly unreadable: ReadonlySet<number>;
  readonly report: IngestReport;
}

const count = (what: string, found: number, expected: number): Check => {
  const isRight = found === expected;
  return { isRight, fact: `${grouped(found)} ${what}${isRight ? "" : `, expected ${grouped(expected)}`}` };
};

/** Every contact of the service must be in the file, once. To be asked before events add more. */
export const checkExport = async (file: string, { contacts }: SandboxState): Promise<Check> => {
  const ids: unknown[] = [];
  for await (const { id } of readCsv(file)) ids.push(id);
  const exported = new Set(ids);
  const isRight = ids.length === contacts.length && contacts.every(({ id }) => exported.has(id));
  return { isRight, fact: `all ${grouped(contacts.length)} contacts are in the file, once each` };
};

/** Every event that can be recorded must be, once, although a process was killed. */
export const checkIngestion = (state: SandboxState, { rejected, unreadable, report }: Told): Check[] => {
  const { read, skipped, accepted, duplicates, unknown } = report;
  const settled = skipped + accepted + duplicates + report.rejected;
  return [
    {
      isRight: skipped > 0,
      fact: `the second run skipped ${grouped(skipped)} events that the first had settled`,
    },
    {
      isRight: settled === read && unknown === 0,
      fact: `every one of ${grouped(read)} events is accounted for`,
    },
    count("events recorded", state.events.length, plan.distinct),
    count("of them recorded once", new Set(state.events.map(({ callerId }) => callerId)).size, plan.distinct),
    count("events rejected", rejected.size, plan.refused),
    count("lines are no JSON object", unreadable.size, plan.unreadable),
  ];
};

/** The limits must have been kept by pacing alone. */
export const checkLimits = ({ counts }: SandboxState): Check =>
  count("requests refused with 429", counts.byStatus["429"] ?? 0, 0);
