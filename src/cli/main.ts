#!/usr/bin/env node
import { run } from "./run.ts";

const interruption = new AbortController();
// Once: a second signal ends the process at once, as it would without this.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => interruption.abort(new Error(signal)));

const { stdout, stderr } = process;
// Whoever reads may go away, as `head` does: what was asked for is done all the same, only told to nobody.
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
