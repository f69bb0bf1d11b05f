import { type BudgetState, documentedLimits, type Limits } from "../options/limits.ts";
import type { Settings } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { pump } from "./admission.ts";
import { Budget } from "./budget.ts";
import { DailyLimit } from "./permits.ts";
import { AdmissionQueue, type ConcurrencyLimit, Kind } from "./queue.ts";
import { budgetsOf, type FindBudget, type LimitName } from "./registry.ts";

const never = Number.POSITIVE_INFINITY;
const noneWaiting = { interactive: 0, background: 0 };
// All budgets share these string literals. A string that is built for each budget would stay in memory once per API
// key, of which there may be thousands.
const dayOf = { requests: "requestsPerDay", emails: "emailsPerDay", events: "eventsPerDay" } as const;

/** Returns the kind of requests that spend these budgets. Clients with the same budgets share the kind. */
const kindOf = (wider: readonly Budget[], narrowest: Budget, priority: Priority): Kind => {
  const widest = wider[0] ?? narrowest;
  const kinds = narrowest.kinds.get(widest) ?? new Map<string, Kind>();
  narrowest.kinds.set(widest, kinds);
  // Only `sending` can lie between the widest and the narrowest budget, so the number of wider budgets identifies the
  // kind.
  const id = `${priority} ${wider.length}`;
  // budget.ts must not import Kind, so the type of its map is wider. Every kind in the map is a Kind.
  const kind = (kinds.get(id) as Kind | undefined) ?? new Kind(wider, narrowest, priority);
  kinds.set(id, kind);
  return kind;
};

/** The budgets that the requests of one client spend. */
export class RateLimiter {
  /**
   * The budget of each limit, and `sending`. `sending` has no limit. It only keeps the long pause of a mail account,
   * during which emails can still be scheduled.
   */
  readonly budgets: Readonly<Record<LimitName, Budget>>;

  /**
   * If `limits` is false, the only restrictions are the pauses that the service requests.
   *
   * @param find - finds the budgets that other clients of the process made. By default, the limiter makes all budgets.
   */
  constructor(
    limits: Limits | false,
    clock: Clock,
    shared?: Pick<SharedLimits, "open">,
    find: FindBudget = (_name, _numbers, make) => make(),
  ) {
    const budgetOf = (name: LimitName): Budget => {
      const shown = name === "sending" ? "emails" : name;
      const isLimited = limits !== false && name !== "sending";
      const limit = isLimited ? limits[name] : { ...documentedLimits[shown], max: never };
      const maxPerDay = isLimited ? limits[dayOf[name]] : never;
      return find(name, { limit, maxPerDay }, (scope, earlierDay, remembered) => {
        const opened = shared?.open(name, { limit, maxPerDay, scope }, clock);
        const day = opened ?? earlierDay ?? new DailyLimit(dayOf[shown], maxPerDay, clock);
        const onChange = (budget: Budget): void => pump([budget]);
        return new Budget(shown, limit, { clock, shared: opened, day, onChange, remembered });
      });
    };
    const [requests, emails, events] = [budgetOf("requests"), budgetOf("emails"), budgetOf("events")];
    this.budgets = { requests, emails, events, sending: budgetOf("sending") };
  }

  /**
   * Creates a queue for requests that spend the budget `name`. All of them also spend the budget `requests`. If `name`
   * is `"sending"`, they spend the budget `emails` as well.
   */
  route(name: LimitName, priority: Priority, slots: ConcurrencyLimit): AdmissionQueue {
    const { requests, emails, events, sending } = this.budgets;
    if (name === "requests") return new AdmissionQueue(kindOf([], requests, priority), slots);
    const wider = name === "sending" ? [requests, sending] : [requests];
    return new AdmissionQueue(kindOf(wider, name === "events" ? events : emails, priority), slots);
  }

  /** The state of each limit, keyed by its name. */
  state(): Record<keyof Limits, BudgetState> {
    const { requests, emails, events, sending } = this.budgets;
    const { pausedUntil, pausedBy } = sending.pausedForMs > emails.pausedForMs ? sending.state : emails.state;
    const ofDay = ({ day, shared }: Budget): BudgetState => {
      const remaining = Math.max(0, day.max - day.used);
      return {
        used: day.used,
        remaining,
        resetsInMs: remaining > 0 ? 0 : day.resetsInMs(1),
        pausedUntil: undefined,
        pausedBy: undefined,
        lost: shared?.lost?.why,
        waiting: noneWaiting,
      };
    };
    return {
      requests: requests.state,
      requestsPerDay: ofDay(requests),
      emails: { ...emails.state, pausedUntil, pausedBy },
      emailsPerDay: ofDay(emails),
      events: events.state,
      eventsPerDay: ofDay(events),
    };
  }

  /** Sends the store of shared limits everything that the store has not received yet. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.budgets).map(({ shared }) => shared?.close()));
  }
}

let hasWarnedOfThreads = false;

const warnOfThreads = (log: Settings["log"]): void => {
  if (hasWarnedOfThreads || !log.isOn("warn")) return;
  // The module is not imported, because workerd does not have it.
  const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (threads?.isMainThread !== false) return;
  hasWarnedOfThreads = true;
  log.warn(
    "each worker thread counts only its own requests: share the limits with redisLimits or sqlLimits, " +
      "or set each thread's part in limits",
    {},
  );
};

/** Creates the limiter of a client. Clients that the service counts together share budgets within the process. */
export const sharedLimiter = (settings: Settings, clock: Clock): RateLimiter => {
  const { limits, sharing, log } = settings;
  if (limits !== false && sharing === undefined) warnOfThreads(log);
  return new RateLimiter(limits, clock, sharing, budgetsOf(settings, clock));
};
