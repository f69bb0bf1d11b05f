import { ConfigurationError } from "../index.ts";
import type { Command, Invocation, Options } from "./args.ts";
import type { Output, Terminal } from "./terminal.ts";

export const exitCode = {
  ok: 0,
  failed: 1,
  wrongUsage: 2,
  /** The command completed, but some records were rejected, or `doctor` found differences. */
  someRejected: 3,
  /** The shell's convention for SIGINT: 128 + 2. */
  interrupted: 130,
  /** The shell's convention for SIGPIPE: 128 + 13. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The environment of a command. */
export interface Surroundings {
  /** For results, so that a user can pipe them. */
  readonly stdout: Output;
  /** For progress and errors. */
  readonly stderr: Terminal;
  /** Aborts at SIGINT or SIGTERM. */
  readonly interrupt: AbortSignal;
  /** Whether standard output is a terminal. */
  readonly isTerminal?: boolean | undefined;
  /** Returns the time of a monotonic clock in milliseconds. */
  now(): number;
}

/** A command's parsed arguments and its environment. `stdout` and `stderr` make control characters visible. */
export type Request = Surroundings &
  Pick<Extract<Invocation<Command>, { kind: "run" }>, "values" | "lists" | "flags" | "operands"> & {
    /** Standard error without escaping of control characters, for the progress bar. */
    readonly screen: Terminal;
  };

export interface CliCommand extends Command {
  /** @throws the signal's reason when interrupted. */
  run(request: Request): Promise<ExitCode>;
  /** The message after an interruption without `--checkpoint`. Default: "Nothing was changed." */
  readonly afterInterrupt?: string;
}

/** The command line is wrong. The message explains how to correct it. */
export class UsageError extends Error {
  /** A corrected command to copy. */
  readonly command: string | undefined;
  /** Lines of a file to print below the message. */
  readonly lines: readonly string[];

  constructor(
    message: string,
    command?: string,
    options: ErrorOptions & { readonly lines?: readonly string[] } = {},
  ) {
    super(message, options);
    this.command = command;
    this.lines = options.lines ?? [];
  }
}

/** A write to standard output has failed. */
export class OutputError extends Error {
  readonly isBrokenPipe: boolean;

  constructor(cause: Error & { readonly code?: unknown }) {
    super(`standard output cannot be written: ${cause.message}`, { cause });
    this.isBrokenPipe = cause.code === "EPIPE";
  }
}

/**
 * Runs a setup function that uses options of the command line.
 *
 * @throws UsageError in place of its ConfigurationError.
 */
export const asUsage = <T>(setUp: () => T): T => {
  try {
    return setUp();
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(error.message, undefined, { cause: error });
    throw error;
  }
};

/** The items of an option with a comma-separated value: `email,name`. */
export const listOf = (request: Pick<Request, "values">, name: string): readonly string[] | undefined =>
  request.values[name]
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

export const jsonOption: Options = { "--json": "the result as one line of JSON" };

/** Prints a result as text for people, or with `--json` as one line for machines. */
export const print = async (
  request: Pick<Request, "flags" | "stdout">,
  result: unknown,
  text: string,
): Promise<void> => {
  await request.stdout.write(request.flags.has("json") ? `${JSON.stringify(result)}\n` : text);
};

/**
 * The value of an option that takes a whole number.
 *
 * @throws UsageError if the value is not a whole number from `least` to `most`.
 */
export const countOf = (
  request: Pick<Request, "values">,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined => {
  const text = request.values[name];
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= most) return count;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, got "${text}"`);
};
