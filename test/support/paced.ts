import type { HttpRequest, HttpResponse, Send } from "../../src/http/types.ts";
import type { WaitNotice } from "../../src/options/hooks.ts";
import { documentedLimits, type Limits } from "../../src/options/limits.ts";
import { Slots } from "../../src/rate-limit/concurrency.ts";
import { DayCount } from "../../src/rate-limit/daily-limit.ts";
import { Traffic } from "../../src/rate-limit/limiter.ts";
import { fixedLeases } from "../../src/rate-limit/local-permits.ts";
import { pacing } from "../../src/rate-limit/stage.ts";
import type { BudgetName } from "../../src/service/define.ts";
import { FakeClock } from "./fake-clock.ts";

/** A whole answer with nothing in it. */
export const answered = (status = 200, headers: HttpResponse["headers"] = {}): HttpResponse => ({
  status,
  headers,
  text: "",
  json: {},
  isJson: true,
});

/** A request that spends these budgets. */
export const requestOn = (
  budgets: readonly BudgetName[],
  change: Partial<HttpRequest> = {},
): HttpRequest => ({
  operation: budgets.join("+"),
  method: "POST",
  route: "/",
  path: "/",
  headers: {},
  body: undefined,
  replay: "never",
  notFoundMeansDone: false,
  mayBeEmpty: true,
  budgets,
  weight: 1,
  signal: undefined,
  attemptTimeoutMs: 30_000,
  maxRetries: 0,
  attempt: 1,
  mayHaveTakenEffect: false,
  stats: { attempts: 0, waitedMs: 0, mayHaveTakenEffect: false },
  ...change,
});

/** The pacing stage over a scripted transport and a clock that stands until it is moved. */
export const paced = (
  next: Send,
  settings: {
    readonly limits?: Partial<Limits> | false;
    readonly concurrency?: number;
    readonly slots?: Slots;
    readonly maxRetryAfterMs?: number;
    readonly clock?: FakeClock;
  } = {},
) => {
  const clock = settings.clock ?? new FakeClock();
  const limits = settings.limits === false ? false : { ...documentedLimits, ...settings.limits };
  const traffic = new Traffic(limits, clock, {
    open: (name, { limit, maxPerDay }) => ({
      leases: fixedLeases(limit.max),
      day: new DayCount(`${name}PerDay`, maxPerDay, clock),
    }),
  });
  const waits: WaitNotice[] = [];
  const send = pacing({
    traffic,
    slots: settings.slots ?? new Slots(settings.concurrency ?? 1_000),
    maxRetryAfterMs: settings.maxRetryAfterMs ?? 60_000,
    clock,
    onWait: (notice) => waits.push(notice),
  })(next);
  return { clock, traffic, send, waits };
};
