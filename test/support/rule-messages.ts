import { Exchange } from "../../src/fleet/exchange.ts";
import type { Ask, BudgetMessage, EndedRequest, PartMessage } from "../../src/fleet/messages.ts";
import type { Place } from "../../src/fleet/place.ts";
import { documentedLimits, type Limits } from "../../src/options/limits.ts";
import type { Priority } from "../../src/options/priority.ts";
import { end, pump } from "../../src/rate-limit/admission.ts";
import type { Budget } from "../../src/rate-limit/budget.ts";
import { RateLimiter } from "../../src/rate-limit/limiter.ts";
import { coolMs } from "../../src/rate-limit/permits.ts";
import { Admission, type AdmissionQueue, ConcurrencyLimit, type Kind } from "../../src/rate-limit/queue.ts";
import type { LimitName } from "../../src/rate-limit/registry.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { FakeClock } from "./fake-clock.ts";
import { memoryPlace } from "./memory-place.ts";
import { aSending } from "./sending.ts";

export interface KindOfRequest {
  /** The narrowest one. */
  readonly limit: LimitName;
  readonly priority: Priority;
}

export interface Request extends KindOfRequest {
  readonly id: string;
  readonly weight: number;
}

export interface Ended {
  readonly request: Request;
  readonly wasSent: boolean;
  readonly wasAnswered: boolean;
}

/** What a process reports and requests at one moment. The process gives up the requests that it does not get. */
export interface Message {
  readonly process: string;
  readonly ended: readonly Ended[];
  readonly pause: { readonly limit: LimitName; readonly ms: number } | undefined;
  /** The requested permits, all of one kind. */
  readonly asked: readonly Request[];
}

const leastReserve = 0.1;
const longMs = 1e12;
const names: readonly LimitName[] = ["requests", "emails", "events", "sending"];

/** The rules of limits in one process, driven by messages. */
export class RulesInProcess {
  readonly limiter: RateLimiter;
  readonly #clock: Clock;
  readonly #slots = new ConcurrencyLimit(longMs);
  readonly #queues = new Map<string, AdmissionQueue>();
  readonly #inFlight = new Map<string, Admission>();

  constructor(limits: Limits, clock: FakeClock) {
    // The clock has no timers, so the limiter checks its queues only when a message arrives.
    this.#clock = {
      now: () => clock.now(),
      wallTime: () => clock.wallTime(),
      sleep: (ms) => clock.sleep(ms),
      after: () => () => undefined,
    };
    this.limiter = new RateLimiter(limits, this.#clock);
  }

  queueOf({ limit, priority }: KindOfRequest): AdmissionQueue {
    const id = `${limit} ${priority}`;
    const queue = this.#queues.get(id) ?? this.limiter.route(limit, priority, this.#slots);
    this.#queues.set(id, queue);
    return queue;
  }

  /** The requests that may go. */
  grant({ ended, pause, asked }: Message): readonly string[] {
    for (const { request, wasSent, wasAnswered } of ended) {
      const admission = this.#inFlight.get(request.id);
      this.#inFlight.delete(request.id);
      if (admission !== undefined) end(admission, { roundTripMs: wasAnswered ? 0 : undefined, wasSent });
    }
    if (pause !== undefined) this.limiter.budgets[pause.limit].pause(pause.ms);
    const admissions = asked.map((request) => this.#push(request));
    pump(Object.values(this.limiter.budgets));
    for (const admission of admissions)
      if (!admission.hasGone && admission.refused === undefined) admission.queue.remove(admission);
    const granted = asked.filter((_, at) => admissions[at]?.hasGone);
    return granted.map(({ id }) => id);
  }

  #push(request: Request): Admission {
    const { id, weight, priority } = request;
    const asked = aSending({ weight, priority, clock: this.#clock });
    const send = () => Promise.reject(new Error("not sent"));
    const bounds = { maxRetryAfterMs: longMs, interactiveReserve: leastReserve, maxQueued: longMs };
    const queue = this.queueOf(request);
    const admission = new Admission({ ...asked, send }, queue, { ...bounds, clock: this.#clock });
    queue.kind.weight = weight;
    if (priority === "interactive") for (const budget of queue.kind.budgets) budget.sawInteractive();
    queue.push(admission);
    this.#inFlight.set(id, admission);
    return admission;
  }
}

/** What one process tells and asks at one moment, of several kinds; an empty list says that the kind waits no longer. */
interface Question extends Pick<Message, "process" | "ended"> {
  readonly pauses: readonly NonNullable<Message["pause"]>[];
  readonly asked: readonly { readonly kind: KindOfRequest; readonly requests: readonly Request[] }[];
}

/** The rules of limits that processes share, which get the same messages. */
export class RulesInFleet {
  /** Knows what kinds there are, and what they spend. */
  readonly #limiter: RateLimiter;
  readonly #clock: Clock;
  readonly #place: Place;
  /** The exchange of each process. */
  readonly #exchanges = new Map<string, Exchange>();

  constructor(limiter: RateLimiter, clock: Clock) {
    this.#limiter = limiter;
    this.#clock = clock;
    this.#place = memoryPlace(clock);
  }

  kindOf({ limit, priority }: KindOfRequest): Kind {
    return this.#limiter.route(limit, priority, new ConcurrencyLimit(longMs)).kind;
  }

  nameOf(budget: Budget): LimitName {
    return names.find((name) => this.#limiter.budgets[name] === budget) ?? "requests";
  }

  /** The requests that may go. The others are given up. */
  async grant({ process, ended, pause, asked }: Message): Promise<readonly string[]> {
    const [kind] = asked;
    const asks = kind === undefined ? [] : [{ kind, requests: asked }];
    const granted = await this.answer({ process, ended, pauses: pause ? [pause] : [], asked: asks });
    if (kind === undefined) return granted;
    await this.answer({ process, ended: [], pauses: [], asked: [{ kind, requests: [] }] });
    return granted;
  }

  /** The requests that may go. The others wait. */
  async answer({ process, ended, pauses, asked }: Question): Promise<readonly string[]> {
    const exchange = this.#exchanges.get(process) ?? new Exchange(this.#place, process, this.#clock);
    this.#exchanges.set(process, exchange);
    const budgets = names.map((name): BudgetMessage => {
      const { limit, day } = this.#limiter.budgets[name];
      const pause = pauses.find((one) => one.limit === name);
      return {
        ...{ max: Math.min(limit.max, Number.MAX_SAFE_INTEGER), windowMs: limit.windowMs, floorMs: 0 },
        ...{ dayMax: day.max, charge: 0, last: undefined, wasAlone: false },
        pause: pause && { until: this.#clock.now() + pause.ms, by: "" },
      };
    });
    const parts = [
      ...asked.map(({ kind, requests }) => this.#part(kind, { ask: this.#ask(kind, requests) })),
      ...ended.map((one) => this.#part(one.request, { ended: [this.#ended(one)] })),
    ];
    const { parts: replies } = await exchange.send(names, {
      ...{ process, storeFloorMs: 0, grantAheadMs: 0, budgets, parts },
    });
    return asked.flatMap(({ requests }, at) =>
      requests.slice(0, replies[at]?.granted.length).map(({ id }) => id),
    );
  }

  #part(kind: KindOfRequest, part: Partial<PartMessage>): PartMessage {
    const all = Object.values(this.#limiter.budgets);
    const budgets = this.kindOf(kind).budgets.map((budget) => all.indexOf(budget));
    return { kind: `${kind.priority} ${kind.limit}`, budgets, ended: [], ...part };
  }

  #ask(kindOfRequest: KindOfRequest, asked: readonly Request[]): Ask {
    const kind = this.kindOf(kindOfRequest);
    const shares = kind.budgets.map((budget) => kind.shareOf(budget));
    const requests = asked.map(({ id, weight }) => ({ id, weight }));
    return { shares, leastReserve, leaseMs: longMs, requests };
  }

  #ended({ request, wasSent, wasAnswered }: Ended): EndedRequest {
    const { id, weight } = request;
    const kind = this.kindOf(request);
    // A place counts whole milliseconds, and adds one; the clock of these tests shows no part of one.
    const freeAt = kind.budgets.map(
      (budget) => this.#clock.now() + coolMs(budget.limit, kind.weightOf(budget, weight), wasAnswered) - 1,
    );
    return { id, weight, wasSent, wasAnswered, freeAt };
  }
}

/** Random limits. Their numbers are chosen so that no window ends at the moment of a message. */
export const randomLimits = (pick: <T>(of: readonly T[]) => T, isDayShort: boolean): Limits => {
  const limit = () => ({ max: pick([2, 4, 5, 10]), windowMs: pick([300, 1_200, 3_000]) });
  const days = isDayShort ? { requestsPerDay: 25, emailsPerDay: 6, eventsPerDay: 20 } : {};
  return { ...documentedLimits, requests: limit(), emails: limit(), events: limit(), ...days };
};
