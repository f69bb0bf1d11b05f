import { Recorder } from "../../src/batch/recorder.ts";
import { recorderSettings } from "../../src/batch/recorder-options.ts";
import { Call } from "../../src/call/call.ts";
import { sendRequest } from "../../src/call/executor.ts";
import { Redactor } from "../../src/http/auth.ts";
import { RetryQuota } from "../../src/http/retry.ts";
import type { Send } from "../../src/http/types.ts";
import { documentedLimits } from "../../src/options/limits.ts";
import { settingsFrom } from "../../src/options/options.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../src/rate-limit/queue.ts";
import { rateLimit } from "../../src/rate-limit/stage.ts";
import { Lifetime } from "../../src/runtime/cancellation.ts";
import { operations } from "../../src/service/operations.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { answered } from "../../test/support/paced.ts";

const seconds = 120;

/** Counts the events of two minutes at the documented limits: single records against a recorder, on a simulated clock. */
export const recorderAgainstSingles = async (): Promise<void> => {
  const run = async (isGathered: boolean): Promise<number> => {
    const clock = new FakeClock();
    const limits = { ...documentedLimits, requestsPerDay: 1e9, eventsPerDay: 1e9 };
    const next: Send = async ({ plan: { weight } }) => {
      await clock.sleep(50);
      const results = Array.from({ length: weight }, () => ({ status: 202 }));
      return { ...answered(isGathered ? 207 : 202), json: { accepted: weight, rejected: 0, results } };
    };
    const stage = rateLimit({
      ...{ limiter: new RateLimiter(limits, clock), slots: new ConcurrencyLimit(1_000), clock },
      ...{ maxRetryAfterMs: 60_000, interactiveReserve: 0.1, maxQueued: Number.POSITIVE_INFINITY },
      onWait: () => undefined,
    });
    const send: Send = (sending, request) => stage(sending, request, next);
    const settings = settingsFrom(
      { apiKey: "bench", baseUrl: "https://service.test", responseValidation: "off" },
      {},
    );
    const call = Call.ofClient({
      ...{ send, settings, clock, redactor: new Redactor(), lifetime: new Lifetime() },
      ...{ quota: new RetryQuota(), random: Math.random },
    });
    const recorder = new Recorder(recorderSettings({}, limits.events.max), {
      call,
      onClose: () => undefined,
    });
    let recorded = 0;
    const event = { name: "x", contact: { id: "1" } };
    for (let caller = 0; caller < 500; caller += 1) {
      void (async () => {
        while (clock.now() < seconds * 1_000) {
          if (isGathered) await recorder.record(event);
          else
            await sendRequest(call, operations.events.record, {
              payload: { ...event, id: crypto.randomUUID() },
            });
          recorded += 1;
        }
      })();
    }
    await clock.advance(seconds * 1_000);
    return recorded / seconds;
  };
  const [single, gathered] = [await run(false), await run(true)];
  console.log(
    `recorder against single records, 50 ms, simulated clock: ${gathered.toFixed(1)} and ${single.toFixed(1)} events a second, ${(gathered / single).toFixed(2)} times`,
  );
};
