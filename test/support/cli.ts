import { type ChildProcess, spawn } from "node:child_process";
import { run } from "../../src/cli/run.ts";
import { compile, root } from "./programs.ts";

/** The compiled command line. */
export const [program = ""] = await compile("cli", [`${root}src/cli/main.ts`]);

/** How a run of the command line ended. */
export interface CliEnding {
  /** The exit code, or the signal that killed it. */
  readonly ended: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs the command line. */
export interface CliRun {
  readonly process: ChildProcess;
  readonly ended: Promise<CliEnding>;
}

/** Starts `touchpoint` with arguments in a folder. */
export const startCli = (
  args: readonly string[],
  {
    cwd,
    env = {},
    stdout: out = "pipe",
  }: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    /** A file descriptor for its standard output. */
    readonly stdout?: number | "pipe";
  },
): CliRun => {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    // vitest sets this variable for its own output.
    env: { ...process.env, FORCE_COLOR: undefined, ...env },
    stdio: ["pipe", out, "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<CliEnding>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ ended: code ?? signal, stdout, stderr }));
  });
  return { process: child, ended };
};

/**
 * Runs `touchpoint` in this process, with the folder and the environment of this process. The start of a new process takes
 * longer than most commands, so use this function unless the test depends on a separate process.
 */
export const runHere = async (
  args: readonly string[],
  interrupt = new AbortController().signal,
): Promise<CliEnding> => {
  let stdout = "";
  let stderr = "";
  const ended = await run(args, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    interrupt,
    now: () => performance.now(),
  });
  return { ended, stdout, stderr };
};
