import { Exchange } from "../../src/fleet/exchange.ts";
import type { Ask, BudgetMessage, EndedRequest, PartMessage, PartReply } from "../../src/fleet/messages.ts";
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

/** A request. `limit` is the narrowest limit that it counts against. */
export interface Request {
  readonly id: string;
  readonly process: string;
  readonly limit: LimitName;
  readonly priority: Priority;
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
  /** Until when each kind counts as waiting. A waiting kind keeps its shares. */
  readonly #waiting = new Map<Kind, number>();

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

  queueOf({ limit, priority }: Pick<Request, "limit" | "priority">): AdmissionQueue {
    const id = `${limit} ${priority}`;
    const queue = this.#queues.get(id) ?? this.limiter.route(limit, priority, this.#slots);
    this.#queues.set(id, queue);
    return queue;
  }

  /** Marks the kind of these requests as waiting for so long. */
  waitsFor([first]: readonly Request[], ms: number): void {
    if (first === undefined) return;
    const { kind } = this.queueOf(first);
    kind.begin();
    this.#waiting.set(kind, this.#clock.now() + ms);
  }

  /** Returns the ids of the granted requests. */
  grant({ ended, pause, asked }: Message): readonly string[] {
    const askedKind = asked[0] && this.queueOf(asked[0]).kind;
    for (const [kind, until] of this.#waiting)
      if ((kind === askedKind || until <= this.#clock.now()) && this.#waiting.delete(kind)) kind.end();
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

/** The rules of shared limits, driven by the same messages. */
export class RulesInFleet {
  /** Provides the kinds, and the budgets that they use. */
  readonly #rules: RulesInProcess;
  readonly #clock: Clock;
  readonly #place: Place;
  /** The exchange of each process. */
  readonly #exchanges = new Map<string, Exchange>();

  constructor(rules: RulesInProcess, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
    this.#place = memoryPlace(clock);
  }

  /** Returns the ids of the granted requests, and for how long the kind of the other requests counts as waiting. */
  async grant(message: Message): Promise<{ readonly granted: readonly string[]; readonly waitsMs: number }> {
    const { ended, asked } = message;
    const [first] = asked;
    const reported = ended.map((one) => this.#part(one.request, { ended: [this.#ended(one)] }));
    if (first === undefined) {
      await this.#send(message, reported);
      return { granted: [], waitsMs: 0 };
    }
    const parts = [...reported, this.#part(first, { ask: this.#ask(first, asked) })];
    const reply = (await this.#send(message, parts)).at(-1);
    const granted = asked.slice(0, reply?.granted.length).map(({ id }) => id);
    if (reply?.lacks === undefined) return { granted, waitsMs: 0 };
    const gaveUp = { ...message, pause: undefined };
    await this.#send(gaveUp, [this.#part(first, { ask: this.#ask(first, []) })]);
    return { granted, waitsMs: reply.waitMs + 1_000 };
  }

  async #send(message: Message, parts: readonly PartMessage[]): Promise<readonly PartReply[]> {
    const { process } = message;
    const exchange = this.#exchanges.get(process) ?? new Exchange(this.#place, process, this.#clock);
    this.#exchanges.set(process, exchange);
    const budgets = names.map((name) => this.#budget(this.#rules.limiter.budgets[name], message));
    return (await exchange.send(names, { process, storeFloorMs: 0, soonMs: 0, budgets, parts })).parts;
  }

  #budget(budget: Budget, { pause }: Message): BudgetMessage {
    const { limit, day } = budget;
    const isPaused = pause !== undefined && this.#rules.limiter.budgets[pause.limit] === budget;
    return {
      ...{ max: Math.min(limit.max, Number.MAX_SAFE_INTEGER), windowMs: limit.windowMs, floorMs: 0 },
      ...{ dayMax: Math.min(day.max, Number.MAX_SAFE_INTEGER), dayUsed: 0, charge: 0 },
      ...{ born: "", writes: 0, knownAt: 0, aheadMs: 0, ageMs: 0, tripMs: 0, wasAlone: false },
      ...{ pauseMs: isPaused ? pause.ms : 0, pausedBy: "" },
    };
  }

  #part(request: Request, part: Partial<PartMessage>): PartMessage {
    const { budgets } = this.#rules.queueOf(request).kind;
    const indexes = budgets.map((budget) => Object.values(this.#rules.limiter.budgets).indexOf(budget));
    return { kind: `${request.priority} ${request.limit}`, budgets: indexes, ended: [], ...part };
  }

  #ask(request: Request, asked: readonly Request[]): Ask {
    const { kind } = this.#rules.queueOf(request);
    const shares = kind.budgets.map((budget) => kind.shareOf(budget));
    const requests = asked.map(({ id, weight }) => ({ id, weight }));
    return { shares, leastReserve, leaseMs: longMs, requests };
  }

  #ended({ request, wasSent, wasAnswered }: Ended): EndedRequest {
    const { id, weight } = request;
    const { kind } = this.#rules.queueOf(request);
    const cool = kind.budgets.map((budget) =>
      coolMs(budget.limit, kind.weightOf(budget, weight), wasAnswered),
    );
    return { id, weight, wasSent, wasAnswered, coolMs: cool };
  }
}

/** Random limits. Their numbers are chosen so that no window ends at the moment of a message. */
export const randomLimits = (pick: <T>(of: readonly T[]) => T, isDayShort: boolean): Limits => {
  const limit = () => ({ max: pick([2, 4, 5, 10]), windowMs: pick([300, 1_200, 3_000]) });
  const days = isDayShort ? { requestsPerDay: 25, emailsPerDay: 6, eventsPerDay: 20 } : {};
  return { ...documentedLimits, requests: limit(), emails: limit(), events: limit(), ...days };
};
