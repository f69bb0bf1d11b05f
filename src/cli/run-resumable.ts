import type { Client } from "../index.ts";
import { isTouchpointError, type Progress } from "../index.ts";
import { type CliCommand, type Request, textOf } from "./cli-command.ts";
import { connectionOptions } from "./connect.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { type Refused, rejections } from "./rejections.ts";
import { writeReport } from "./report.ts";
import { watch } from "./watch.ts";

/** What an ingestion and an import are given alike. */
export interface ResumableRun {
  readonly client: Client;
  readonly checkpoint: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly reject: (refused: Refused) => Promise<void>;
}

/** The options that an ingestion and an import share. */
export const resumableOptions = {
  checkpoint: {
    type: "string",
    value: "<path>",
    about: "keep in this file how far the work has come; the same command then goes on from there",
  },
  rejected: { type: "string", value: "<path>", about: "keep what was refused, and why, in this NDJSON file" },
  ...connectionOptions,
  json: { type: "boolean", about: "the report as one line of JSON" },
} as const satisfies CliCommand["shape"]["options"];

/** Runs work that can be killed and started again, and reports on it. */
export const runResumable = async (
  request: Request,
  work: (run: ResumableRun) => Promise<object & { readonly rejected: number }>,
): Promise<ExitCode> => {
  const { client, bar, waitingFor, close } = await watch(request);
  try {
    const report = await work({
      client,
      checkpoint: textOf(request, "checkpoint"),
      signal: request.interrupt,
      onProgress: (progress) => bar.update({ ...progress, waitingFor: waitingFor() }),
      reject: await rejections(request, bar),
    });
    bar.end();
    writeReport(request, report);
    return report.rejected > 0 ? exitCode.someRejected : exitCode.ok;
  } catch (error) {
    bar.end();
    const report = isTouchpointError(error) ? error.partial?.report : undefined;
    // A report of nothing would only hide why nothing was read.
    const isEmpty = report !== undefined && "read" in report && report.read === 0;
    if (report !== undefined && !isEmpty) writeReport(request, report);
    throw error;
  } finally {
    await close();
  }
};
