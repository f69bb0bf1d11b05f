import type { HttpResponse } from "../../src/http/message.ts";
import type { Send } from "../../src/http/types.ts";
import type { WaitNotice } from "../../src/options/hooks.ts";
import { documentedLimits, type Limits } from "../../src/options/limits.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../src/rate-limit/queue.ts";
import { rateLimit } from "../../src/rate-limit/stage.ts";
import { retryAfterMs } from "../../src/runtime/headers.ts";
import type { BudgetName } from "../../src/service/define.ts";
import { FakeClock } from "./fake-clock.ts";
import { type SendingSpec, type SendSpec, through } from "./sending.ts";

/** A complete response without content. */
export const answered = (status = 200, headers: HttpResponse["headers"] = {}): HttpResponse => ({
  status,
  headers,
  text: "",
  json: {},
  isJson: true,
  retryAfterMs: retryAfterMs(headers, 0),
});

/** A sending that spends these budgets. */
export const requestOn = (budgets: readonly BudgetName[], change: SendingSpec = {}): SendingSpec => ({
  operation: budgets.join("+"),
  method: "POST",
  path: "/",
  replay: "never",
  mayBeEmpty: true,
  budgets,
  maxRetries: 0,
  ...change,
});

/** The rate-limit stage over a scripted transport and a fake clock. */
export const paced = (
  next: Send,
  settings: {
    readonly limits?: Partial<Limits> | false;
    readonly concurrency?: number;
    readonly slots?: ConcurrencyLimit;
    readonly limiter?: RateLimiter;
    readonly maxRetryAfterMs?: number;
    readonly maxQueued?: number;
    readonly clock?: FakeClock;
  } = {},
) => {
  const clock = settings.clock ?? new FakeClock();
  const limits = settings.limits === false ? false : { ...documentedLimits, ...settings.limits };
  const limiter = settings.limiter ?? new RateLimiter(limits, clock);
  const waits: WaitNotice[] = [];
  const stage = through(
    rateLimit({
      limiter,
      slots: settings.slots ?? new ConcurrencyLimit(settings.concurrency ?? 1_000),
      maxRetryAfterMs: settings.maxRetryAfterMs ?? 60_000,
      interactiveReserve: 0.1,
      maxQueued: settings.maxQueued ?? Number.POSITIVE_INFINITY,
      clock,
      onWait: (notice) => waits.push(notice),
    }),
    next,
  );
  const send: SendSpec = (spec) => stage({ clock, ...spec });
  return { clock, limiter, send, waits };
};
