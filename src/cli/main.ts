#!/usr/bin/env node
import { run } from "./run.ts";

const interruption = new AbortController();
// Only the first signal: a second one ends the process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => interruption.abort(new Error(signal)));

const { stdout, stderr } = process;
// A reader such as `head` may close the pipe: the command goes on without its output.
for (const stream of [stdout, stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

run(process.argv.slice(2), {
  stdout,
  stderr,
  interrupt: interruption.signal,
  now: () => performance.now(),
}).then((code) => {
  process.exitCode = code;
});
