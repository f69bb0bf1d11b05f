import { Closing } from "../../src/http/closing.ts";
import { DayCount } from "../../src/http/day-count.ts";
import { fixedLeases } from "../../src/http/leases.ts";
import { pacing } from "../../src/http/pacing.ts";
import { Slots } from "../../src/http/slots.ts";
import { Traffic } from "../../src/http/traffic.ts";
import type { HttpRequest, HttpResponse, Send } from "../../src/http/types.ts";
import { documentedLimits, type Limits } from "../../src/limits.ts";
import type { WaitNotice } from "../../src/notices.ts";
import type { BudgetName } from "../../src/operations/define.ts";
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
  absentIsDone: false,
  mayBeEmpty: true,
  budgets,
  weight: 1,
  signal: undefined,
  attemptTimeoutMs: 30_000,
  maxRetries: 0,
  log: { attempts: 0, waitedMs: 0, isUnclear: false },
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
    readonly closing?: Closing;
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
    closing: settings.closing ?? new Closing(),
    maxRetryAfterMs: settings.maxRetryAfterMs ?? 60_000,
    clock,
    onWait: (notice) => waits.push(notice),
  })(next);
  return { clock, traffic, send, waits };
};
