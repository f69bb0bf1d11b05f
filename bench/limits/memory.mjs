// Measures calls that wait for a limit: the heap after a garbage collection, and how long `close()` takes to reject them. Runs
// in a separate process with the built package, because TypeScript loaders add names to functions, which take memory.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "../../dist/index.js";

const waiting = 100_000;
const day = 86_400_000;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const measured = async (options) => {
  const client = new Client({
    ...options,
    apiKey: `memory-${Object.keys(options).join()}`,
    baseUrl: "http://localhost",
    fetch: () => new Promise(() => undefined),
    limits: { eventsPerDay: 1e9, requestsPerDay: 1e9 },
  });
  const event = { name: "page.viewed", contact: { email: "ada@example.com" } };
  collect();
  const before = process.memoryUsage().heapUsed;
  const calls = Array.from({ length: waiting }, () => client.events.record(event));
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / waiting;
  let rejected = 0;
  for (const call of calls)
    call.catch(() => {
      rejected += 1;
    });
  const since = performance.now();
  await client.close({ graceMs: 0 });
  while (rejected < waiting) await new Promise((resolve) => setImmediate(resolve));
  return { options: Object.keys(options).join(), bytes, closeMs: performance.now() - since };
};

// The first calls compile and load code. Do not measure that.
await measured({});
const rows = [];
for (const options of [{}, { maxWaitMs: day }, { totalTimeoutMs: day }]) rows.push(await measured(options));
if (process.send) process.send(rows, () => process.exit());
else console.log(rows);
