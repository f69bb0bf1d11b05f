// Runs programs one after the other in one process, each once the one before it has nothing left to do. Says before each
// on both outputs that it begins, so that what follows can be told apart.
import { pathToFileURL } from "node:url";

const [mark, ...files] = process.argv.slice(2);
let isSettled = true;

const runNext = () => {
  // As Node ends a program that awaits what never comes.
  if (!isSettled) process.exit(13);
  const file = files.shift();
  if (process.exitCode || file === undefined) return;
  for (const output of [process.stdout, process.stderr]) output.write(mark);
  isSettled = false;
  // Clients of one key share their limits in a process; programs do not.
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description?.startsWith("touchpoint-sdk.budgets")) delete globalThis[symbol];
  import(pathToFileURL(file).href).then(() => {
    isSettled = true;
    // A server that is given a port runs until it is told to stop.
    if (process.env.PORT !== undefined) process.emit("SIGTERM", "SIGTERM");
  });
};

process.on("beforeExit", runNext);
runNext();
