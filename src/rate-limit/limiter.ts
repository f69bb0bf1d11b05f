import type { BudgetState, Limit, Limits } from "../options/limits.ts";
import type { Settings } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import type { DayCount, SharedLimits } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import { Kind } from "./kind.ts";
import { DailyLimit, fixedPermits, LocalPermits } from "./local-limits.ts";
import { AdmissionQueue, QueueGroup, type Route } from "./queue.ts";

const unlimited: Limit = { max: Number.POSITIVE_INFINITY, perMs: 1 };
const nobody = { interactive: 0, background: 0 };

/** Everything that the requests of one key share: budgets, daily counts, and their queues. */
export class RateLimiter {
  readonly queues = new QueueGroup();
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  readonly days: Readonly<Record<BudgetName, DayCount>>;
  readonly #kinds = new Map<string, Kind>();

  /** With `false`, nothing is limited, but a pause that the service asks for still applies. */
  constructor(limits: Limits | false, clock: Clock, shared?: Pick<SharedLimits, "open">) {
    const open = (name: BudgetName): { readonly budget: Budget; readonly day: DayCount } => {
      const limit = limits === false ? unlimited : limits[name];
      const maxPerDay = limits === false ? Number.POSITIVE_INFINITY : limits[`${name}PerDay`];
      const { permits, day } = shared?.open(name, { limit, maxPerDay }, clock) ?? {
        permits: limits === false ? fixedPermits(limit.max) : new LocalPermits(limit.max),
        day: new DailyLimit(`${name}PerDay`, maxPerDay, clock),
      };
      return {
        budget: new Budget(name, limit, { clock, onChange: () => this.queues.pump(), source: permits }),
        day,
      };
    };
    const requests = open("requests");
    const emails = open("emails");
    const events = open("events");
    this.budgets = { requests: requests.budget, emails: emails.budget, events: events.budget };
    this.days = { requests: requests.day, emails: emails.day, events: events.day };
  }

  /** The queue for requests that spend these budgets, the last one by weight. */
  route(names: readonly BudgetName[], priority: Priority, slots: ConcurrencyLimit): Route {
    const key = `${priority} ${names.join()}`;
    const kind = this.#kinds.get(key) ?? this.queues.add(this.#newKind(names, priority));
    this.#kinds.set(key, kind);
    return {
      queue: new AdmissionQueue(kind, slots, this.queues),
      days: names.map((name) => this.days[name]),
    };
  }

  /** The state of each limit, keyed by its name. */
  state(): Record<keyof Limits, BudgetState> {
    const { budgets, days } = this;
    const ofDay = (name: BudgetName): BudgetState => {
      const day = days[name];
      const left = Math.max(0, day.max - day.used);
      const freesInMs = left > 0 ? 0 : day.freesInMs(1);
      const open = { pausedUntil: undefined, pausedBy: undefined };
      return { used: day.used, left, freesInMs, ...open, lost: budgets[name].lost?.why, waiting: nobody };
    };
    return {
      requests: budgets.requests.state,
      requestsPerDay: ofDay("requests"),
      emails: budgets.emails.state,
      emailsPerDay: ofDay("emails"),
      events: budgets.events.state,
      eventsPerDay: ofDay("events"),
    };
  }

  /** Clears every timer and returns shared permits. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.budgets).map((budget) => budget.close()));
  }

  #newKind(names: readonly BudgetName[], priority: Priority): Kind {
    const budgets = names.map((name) => this.budgets[name]);
    return new Kind(budgets, budgets.at(-1) ?? this.budgets.requests, priority);
  }
}

/** Finds or creates the limiter of a key; `words` and the identity of `things` identify it. */
type Find = (
  words: readonly unknown[],
  things: readonly (object | undefined)[],
  make: () => RateLimiter,
) => RateLimiter;

// Registered, so that the ESM and the CommonJS copy of the package in one process share the budgets of a key.
const place = Symbol.for("touchpoint-sdk.limiter.v1");

const registry = (): Find => {
  const known = new Map<string, WeakRef<RateLimiter>>();
  const cleaner = new FinalizationRegistry<string>((id) => {
    if (known.get(id)?.deref() === undefined) known.delete(id);
  });
  // Here, so that both copies of the package give an object the same number.
  const ids = new WeakMap<object, number>();
  let idCount = 0;
  const idOf = (thing: object | undefined): number => {
    if (thing === undefined) return 0;
    const id = ids.get(thing) ?? ++idCount;
    ids.set(thing, id);
    return id;
  };
  return (words, things, make) => {
    const id = JSON.stringify([...words, ...things.map(idOf)]);
    const current = known.get(id)?.deref();
    if (current !== undefined) return current;
    const limiter = make();
    known.set(id, new WeakRef(limiter));
    cleaner.register(limiter, id);
    return limiter;
  };
};

const find = (): Find => {
  // One non-enumerable property, created with the first client; a closure, so that no listing shows a key.
  const shared = globalThis as { [place]?: Find };
  shared[place] ?? Object.defineProperty(shared, place, { value: registry(), configurable: true });
  return shared[place] ?? registry();
};

// workerd ends a timer together with the request that created it, and one request cannot wake another.
const isWorkerd = (): boolean => {
  // Node 20 has no navigator, and neither do its types.
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Object(navigator).userAgent === "Cloudflare-Workers";
};

let isToldOfThreads = false;

const tellOfThreads = (log: Settings["log"]): void => {
  // Not imported: workerd has no such module.
  const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (isToldOfThreads || !log.isOn("warn") || threads?.isMainThread !== false) return;
  isToldOfThreads = true;
  log.warn(
    "each worker thread counts its requests alone: share the limits by redisLimits, " +
      "or give each thread its part as limits",
    {},
  );
};

/**
 * The limiter of a key. Clients with the same origin, key and limits share it, because the service counts them
 * together. A key function may return any key, so its client has its own limiter. In workerd every client has its own.
 */
export const sharedLimiter = (settings: Settings, clock: Clock): RateLimiter => {
  const { apiKey, origin, basePath, limits, sharing, fetch, log } = settings;
  if (limits !== false && sharing === undefined) tellOfThreads(log);
  const make = (): RateLimiter => new RateLimiter(limits, clock, sharing);
  if (typeof apiKey !== "string" || isWorkerd()) return make();
  return find()([origin, basePath, apiKey, limits], [sharing, fetch], make);
};
