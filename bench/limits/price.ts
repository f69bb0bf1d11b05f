import { undiciTransport } from "../../src/http/transport/undici.ts";
import type { Send } from "../../src/http/types.ts";
import { documentedLimits } from "../../src/options/limits.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../src/rate-limit/queue.ts";
import { rateLimit } from "../../src/rate-limit/stage.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { answered, requestOn } from "../../test/support/paced.ts";
import { bySpec, type SendSpec, through } from "../../test/support/sending.ts";
import { limitedService } from "./over-sockets.ts";

const wide = { max: 1_000_000, windowMs: 1_000 };
const limits = { ...documentedLimits, requests: wide, requestsPerDay: 1e9, events: wide, eventsPerDay: 1e9 };

const perCallUs = async (send: SendSpec, calls: number): Promise<number> => {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) await send(requestOn(["requests", "events"]));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Measures the CPU time of pacing for a call that does not wait, and the ratio of a paced to an unpaced call over a socket. */
export const priceOfPacing = async (): Promise<void> => {
  const limiter = new RateLimiter(limits, systemClock);
  const shared = { limiter, slots: new ConcurrencyLimit(16) };
  const stage = rateLimit({
    ...shared,
    maxRetryAfterMs: 60_000,
    interactiveReserve: 0.1,
    maxQueued: Number.POSITIVE_INFINITY,
    clock: systemClock,
  });
  const answer = answered();
  const bare: Send = async () => answer;
  const { url, server } = await limitedService("bucket", { requests: wide, emails: wide, events: wide }, 0);
  const transport = undiciTransport({
    origin: url,
    dispatcher: undefined,
    clock: systemClock,
    maxResponseBytes: 1e6,
  });
  const prices: number[] = [];
  const plain: number[] = [];
  const pacedCalls: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const stageless = await perCallUs(bySpec(bare), 50_000);
    prices.push((await perCallUs(through(stage, bare), 50_000)) - stageless);
    plain.push(await perCallUs(bySpec(transport.send), 1_000));
    pacedCalls.push(await perCallUs(through(stage, transport.send), 1_000));
  }
  await transport.close();
  server.close();
  console.log(
    `price of pacing, CPU per uncontended call: ${median(prices).toFixed(2)} us; over a socket ${(median(pacedCalls) / median(plain)).toFixed(3)} times the transport alone, server in the same process (medians of 7)`,
  );
};
