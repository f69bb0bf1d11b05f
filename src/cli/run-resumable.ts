import {
  type Client,
  type ClientOptions,
  type ImportReport,
  isTouchpointError,
  type Progress,
} from "../index.ts";
import type { Options } from "./args.ts";
import { type ExitCode, exitCode, jsonOption, print, type Request } from "./command.ts";
import { connectionOptions, watch } from "./connect.ts";
import { type RejectedRecord, rejections } from "./rejections.ts";
import { grouped, visible } from "./terminal.ts";

type Report = Readonly<Record<string, string | number | true>>;

/** Converts `tooOld` to `too old`. */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const shown = (value: Report[string]): string => {
  if (typeof value === "number") return grouped(value);
  return value === true ? "yes" : visible(value);
};

/** Formats a report as lines of names and values. */
export const describeReport = ({ elapsedMs, ...report }: Report): string => {
  const rows = Object.entries(report).map(([name, value]) => [words(name), shown(value)] as const);
  if (typeof elapsedMs === "number") rows.push(["took", `${(elapsedMs / 1_000).toFixed(1)} s`]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
};

// Without this line, the report of a plan (`created 1`) would look as if contacts had been created.
const planOnly = "Plan only: nothing was changed.\n";

/** Writes a report for people, or with `--json` as one line for machines. */
export const writeReport = (request: Request, report: object): Promise<void> =>
  print(request, report, (request.flags.has("plan") ? planOnly : "") + describeReport({ ...report }));

/** The tools for an ingestion or an import. */
export interface ResumableRun {
  readonly client: Client;
  /** @param leastMs - the minimum time for the remaining items within the rate limits, if known. */
  readonly onProgress: (progress: Pick<Progress, "done" | "perSecond">, leastMs?: number) => void;
  readonly reject: (refused: RejectedRecord) => Promise<void>;
  /** Prints a line above the progress. */
  readonly print: (line: string) => void;
}

/** The option of commands that can continue an earlier run. */
export const checkpointOption: Options = {
  "--checkpoint <path>": "store the progress in this file; the same command then continues from there",
};

/** The options that both an ingestion and an import have. */
export const resumableOptions: Options = {
  ...checkpointOption,
  "--rejected <path>":
    "write rejected records and the reasons to this NDJSON file. To retry them, correct the field `rejected` in each line. Then run the command with this file as <file>, a new --rejected path and no --checkpoint",
  ...connectionOptions,
  ...jsonOption,
};

/**
 * Runs work that can continue after it was killed, and prints its report.
 *
 * @param input - the source. Its number of records determines the remaining time.
 */
export const runResumable = async (
  request: Request,
  input: { readonly total: () => number | undefined },
  work: (run: ResumableRun) => Promise<object & Pick<ImportReport, "rejected" | "rejectedBefore">>,
  clientOptions: Pick<ClientOptions, "unknownFields"> = {},
): Promise<ExitCode> => {
  await using watching = await watch(request, clientOptions);
  const { client, bar, show } = watching;
  const writeFinal = (report: object): Promise<void> => {
    bar.end();
    return writeReport(request, report);
  };
  try {
    const report = await work({
      client,
      onProgress: ({ done, perSecond }, leastMs) => show({ done, total: input.total(), perSecond, leastMs }),
      reject: await rejections(request, bar),
      print: bar.print,
    });
    await writeFinal(report);
    return report.rejected > 0 || report.rejectedBefore ? exitCode.someRejected : exitCode.ok;
  } catch (error) {
    const report = isTouchpointError(error) ? error.partial?.report : undefined;
    // An empty report would only distract from the error.
    const isEmpty = report !== undefined && "read" in report && report.read === 0;
    // If the report can't be written, the error of the run is still more important.
    if (report !== undefined && !isEmpty) await writeFinal(report).catch(() => undefined);
    throw error;
  }
};
