import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { documentedLimits } from "../../src/options/limits.ts";
import { logTo } from "../../src/options/logger.ts";
import type { Settings } from "../../src/options/options.ts";
import { sharedLimiter } from "../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../src/rate-limit/queue.ts";
import { rateLimit } from "../../src/rate-limit/stage.ts";
import { FakeClock, turn } from "../../test/support/fake-clock.ts";
import { answered, requestOn } from "../../test/support/paced.ts";
import { through } from "../../test/support/sending.ts";

const keys = Number(process.env.KEYS ?? 10_000);
const slotsOfDay = 50;
const dayMs = 86_400_000;

/** Runs in a separate process, because it measures the heap. */
const measure = async (): Promise<void> => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const clock = new FakeClock();
  const log = logTo(undefined, "warn");
  const settings = { origin: "https://keys.test", basePath: "", limits: documentedLimits, limitScopes: {} };
  /** Sends the requests of a client with this key, which is then closed. */
  const use = async (key: number): Promise<void> => {
    const apiKey = `tp_live_${String(key).padStart(24, "0")}`;
    // The limiter needs only these settings.
    const limiter = sharedLimiter({ ...settings, apiKey, log } as Settings, clock);
    const slots = new ConcurrencyLimit(16);
    const waits = { maxRetryAfterMs: 60_000, interactiveReserve: 0.1, maxQueued: 9 };
    const send = through(rateLimit({ limiter, slots, clock, ...waits }), async () => answered());
    await Promise.all([
      send(requestOn(["requests"])),
      send(requestOn(["requests", "emails"])),
      send(requestOn(["requests", "events"], { weight: 5 })),
    ]);
  };
  const heapAfter = async (ms: number): Promise<number> => {
    await clock.advance(ms);
    await use(keys);
    // The target of a WeakRef that was read in this turn is collected only in a later turn.
    await turn();
    collect();
    return process.memoryUsage().heapUsed + process.memoryUsage().external;
  };
  const before = await heapAfter(0);
  for (let slot = 0; slot < slotsOfDay; slot += 1) {
    for (let key = 0; key < keys; key += 1) await use(key);
    await clock.advance(dayMs / slotsOfDay);
  }
  // A minute later, the last window of each key has ended, and the next use removes limiters that count nothing else.
  await heapAfter(0);
  const full = await heapAfter(60_000);
  const pending = clock.pending;
  await heapAfter(dayMs + 1_800_000);
  const left = await heapAfter(60_000);
  const perKey = (bytes: number): string => `${((bytes - before) / keys / 1_000).toFixed(2)} KB`;
  console.log(
    `${keys} keys without clients, each with a day's use of every limit: ${perKey(full)} each, ${pending} timers; ` +
      `a day later and used once: ${perKey(left)}`,
  );
};

/** Measures the memory that a key takes when its clients are gone. */
export const memoryOfKeys = async (): Promise<void> => {
  const child = fork(fileURLToPath(import.meta.url), ["measure"], { execArgv: ["--import", "tsx"] });
  await new Promise((resolve) => child.once("exit", resolve));
};

if (process.argv[2] === "measure" && process.send) void measure().then(() => process.exit());
