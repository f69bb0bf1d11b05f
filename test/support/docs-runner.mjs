// Runs programs one after another in one process. A program starts when the one before it has nothing left to do. Before each
// program, a mark on both outputs separates its output from the rest.
import { pathToFileURL } from "node:url";

const [mark, ...files] = process.argv.slice(2);
let isSettled = true;

const runNext = () => {
  // Node uses this exit code for a program that awaits a promise which never settles.
  if (!isSettled) process.exit(13);
  const file = files.shift();
  if (process.exitCode || file === undefined) return;
  for (const output of [process.stdout, process.stderr]) output.write(mark);
  isSettled = false;
  // In one process, clients with the same key share their limits. Separate programs do not.
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description?.startsWith("touchpoint-sdk.budgets")) delete globalThis[symbol];
  import(pathToFileURL(file).href).then(() => {
    isSettled = true;
    // A server with a port runs until it gets this signal.
    if (process.env.PORT !== undefined) process.emit("SIGTERM", "SIGTERM");
  });
};

process.on("beforeExit", runNext);
runNext();
