#!/usr/bin/env node
import { OutputError } from "./command.ts";
import { run } from "./run.ts";

const interruption = new AbortController();
// Handle only the first signal, so that a second one ends the process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => interruption.abort(new Error(signal)));

const { stdout, stderr } = process;
// An "error" event without a listener would end the process. A failed write to standard output rejects instead (see
// below), and the command continues without standard error.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

run(process.argv.slice(2), {
  stdout: {
    write: (text) =>
      new Promise<void>((resolve, reject) => {
        stdout.write(text, (error) => (error ? reject(new OutputError(error)) : resolve()));
      }),
  },
  isTerminal: stdout.isTTY === true,
  stderr,
  interrupt: interruption.signal,
  now: () => performance.now(),
}).then((code) => {
  process.exitCode = code;
});
