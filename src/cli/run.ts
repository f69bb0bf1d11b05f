import { version } from "../../package.json";
import { readArgs } from "./args.ts";
import { budgets } from "./budgets.ts";
import {
  type CliCommand,
  type ExitCode,
  exitCode,
  type Request,
  type Surroundings,
  UsageError,
} from "./command.ts";
import { completionOf } from "./completion.ts";
import { contactsChanges } from "./contacts-changes.ts";
import { contactsExport } from "./contacts-export.ts";
import { contactsImport } from "./contacts-import.ts";
import { doctor } from "./doctor.ts";
import { eventsIngest, forecast } from "./events-ingest.ts";
import { ledgerList, ledgerSettle, ledgerShow } from "./ledger.ts";
import { sandbox } from "./sandbox.ts";

/** All commands, in the order of the help. */
export const commands: readonly CliCommand[] = [
  sandbox,
  contactsExport,
  contactsImport,
  contactsChanges,
  eventsIngest,
  forecast,
  budgets,
  ledgerList,
  ledgerShow,
  ledgerSettle,
  doctor,
  completionOf(() => commands),
];

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EPIPE";

/** Runs a command line, and returns the exit code. It never throws. */
export const run = async (argv: readonly string[], around: Surroundings): Promise<ExitCode> => {
  const { stdout, stderr, interrupt } = around;
  const asked = readArgs(
    commands.map(({ shape }) => shape),
    argv,
  );
  if (asked.kind === "wrong") {
    stderr.write(`${asked.text}\n`);
    return exitCode.wrongUsage;
  }
  if (asked.kind !== "run") {
    stdout.write(`${asked.kind === "version" ? version : asked.text}\n`);
    return exitCode.ok;
  }
  const command = commands.find(({ shape }) => shape === asked.command);
  if (command === undefined) throw new TypeError(`no command ${asked.command.name}`);
  const request: Request = { ...around, values: asked.values, operands: asked.operands };
  try {
    return await command.run(request);
  } catch (error) {
    if (interrupt.aborted) {
      stderr.write(`touchpoint: stopped. ${command.afterInterrupt(request)}\n`);
      return exitCode.interrupted;
    }
    // The reader closed the pipe: end silently, as other programs do.
    if (isBrokenPipe(error)) return exitCode.brokenPipe;
    stderr.write(`touchpoint: ${messageOf(error)}\n`);
    if (!(error instanceof UsageError)) return exitCode.failed;
    stderr.write(`touchpoint ${command.shape.name} --help tells more.\n`);
    return exitCode.wrongUsage;
  }
};
