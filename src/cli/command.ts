import type { Command, Invocation } from "./args.ts";
import type { Terminal } from "./progress-bar.ts";

/** How the program ends. */
export const exitCode = {
  ok: 0,
  failed: 1,
  wrongUsage: 2,
  /** Everything was dealt with, and some records were refused. */
  someRejected: 3,
  /** As shells count SIGINT: 128 + 2. */
  interrupted: 130,
  /** As shells count SIGPIPE: 128 + 13. */
  brokenPipe: 141,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** What surrounds a command. */
export interface Surroundings {
  /** For results, so that they can be piped on. */
  readonly stdout: { write(text: string): unknown };
  /** For progress and complaints. */
  readonly stderr: Terminal;
  /** Aborts when the user, or the system, asks to stop. */
  readonly interrupt: AbortSignal;
  /** Milliseconds that never run backwards. */
  now(): number;
}

/** One use of a command. */
export type Request = Surroundings & Pick<Extract<Invocation, { kind: "run" }>, "values" | "operands">;

/** A command and what it does. */
export interface CliCommand {
  readonly shape: Command;
  /** @throws the signal's reason when interrupted. */
  run(request: Request): Promise<ExitCode>;
  /** What to do after an interruption. */
  afterInterrupt(request: Request): string;
}

/** The command line cannot be carried out; the message says how to type it. */
export class UsageError extends Error {}

/** The value of an option that takes one. */
export const textOf = ({ values }: Pick<Request, "values">, name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
};

/** Whether an option that takes no value was given. */
export const isSet = ({ values }: Pick<Request, "values">, name: string): boolean => values[name] === true;

/** The value of an option that takes a list: `email,name`. */
export const listOf = (request: Pick<Request, "values">, name: string): readonly string[] | undefined =>
  textOf(request, name)
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/**
 * The value of an option that takes a whole number.
 *
 * @throws UsageError for anything else.
 */
export const countOf = (
  request: Pick<Request, "values">,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined => {
  const text = textOf(request, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= most) return count;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, got "${text}"`);
};
