import { paced, requestOn } from "../../test/support/paced.ts";

/** What 100,000 calls take that wait for a budget: heap, and nothing else holds them. */
export const memoryOfWaiting = async (): Promise<void> => {
  const { send } = paced(() => new Promise(() => undefined), { concurrency: 1 });
  const before = process.memoryUsage().heapUsed;
  const waiting = Array.from({ length: 100_000 }, () => send(requestOn(["requests", "events"])));
  await new Promise((resolve) => setImmediate(resolve));
  const { heapUsed } = process.memoryUsage();
  console.log(
    `memory of ${waiting.length} waiting calls: ${((heapUsed - before) / 2 ** 20).toFixed(1)} MiB, garbage included`,
  );
};
