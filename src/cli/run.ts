import { version } from "../../package.json";
import { AuthenticationError, ConnectionError } from "../index.ts";
import { messageOf } from "../runtime/values.ts";
import { readArgs } from "./args.ts";
import {
  type CliCommand,
  type ExitCode,
  exitCode,
  OutputError,
  type Surroundings,
  UsageError,
} from "./command.ts";
import { contactsChanges } from "./contacts-changes.ts";
import { contactsExport } from "./contacts-export.ts";
import { contactsImport } from "./contacts-import.ts";
import { doctor } from "./doctor.ts";
import { eventsIngest, forecast } from "./events-ingest.ts";
import { ledgerList, ledgerMigration, ledgerSettle, ledgerShow } from "./ledger.ts";
import { sandbox } from "./sandbox.ts";
import { colored, type Output, visible, visibleLines } from "./terminal.ts";

/** All commands, in the order of the help. */
export const commands: readonly CliCommand[] = [
  sandbox,
  contactsExport,
  contactsImport,
  contactsChanges,
  eventsIngest,
  forecast,
  ledgerList,
  ledgerShow,
  ledgerSettle,
  ledgerMigration,
  doctor,
];

/** Advice for a failure that a person at a terminal can fix. */
const nextStep = (error: unknown): string | undefined => {
  if (error instanceof AuthenticationError) return "Check the key in TOUCHPOINT_API_KEY.";
  const { code }: { code?: unknown } = Object(error);
  if (code === "EADDRINUSE")
    return "The port is in use. Choose another one with --port, or use --port 0 for any free port.";
  if (error instanceof ConnectionError && /ECONNREFUSED|ENOTFOUND/.test(error.message))
    return "Check TOUCHPOINT_BASE_URL, or run `touchpoint sandbox` to start a local sandbox.";
  return undefined;
};

const safe = (out: Output): Output => ({ write: (text) => out.write(visibleLines(text)) });

/** The message after an interruption of any command with `--checkpoint`. */
const resumeHint = "Run the same command again to continue where it stopped.";

/** Runs a command line, and returns the exit code. It never throws. */
export const run = async (argv: readonly string[], around: Surroundings): Promise<ExitCode> => {
  const { interrupt, stderr: screen } = around;
  const stdout = safe(around.stdout);
  const stderr = safe(screen);
  // Some terminals report 0 columns.
  const input = readArgs(commands, argv, screen.columns || undefined);
  if (input.kind === "wrong") {
    stderr.write(`${input.text}\n`);
    return exitCode.wrongUsage;
  }
  try {
    if (input.kind === "run") return await input.command.run({ ...around, ...input, stdout, stderr, screen });
    await stdout.write(`${input.kind === "version" ? version : input.text}\n`);
    return exitCode.ok;
  } catch (error) {
    if (interrupt.aborted && input.kind === "run") {
      const { afterInterrupt = "Nothing was changed." } = input.command;
      stderr.write(
        `touchpoint: stopped. ${input.values.checkpoint === undefined ? afterInterrupt : resumeHint}\n`,
      );
      return exitCode.interrupted;
    }
    // The reader closed the pipe: end silently, as other programs do.
    if (error instanceof OutputError && error.isBrokenPipe) return exitCode.brokenPipe;
    // Write to `screen`, because `stderr` would escape the color codes. `visible` escapes the message here.
    screen.write(`${colored("red", "touchpoint:", screen)} ${visible(messageOf(error))}\n`);
    const step = nextStep(error);
    if (step !== undefined) screen.write(`${colored("cyan", step, screen)}\n`);
    if (!(error instanceof UsageError && input.kind === "run")) return exitCode.failed;
    for (const [index, line] of error.lines.entries()) screen.write(`  ${index + 1}  ${visible(line)}\n`);
    if (error.command !== undefined) stderr.write(`\n${error.command}\n\n`);
    stderr.write(`Run \`touchpoint ${input.command.name} --help\` for details.\n`);
    return exitCode.wrongUsage;
  }
};
