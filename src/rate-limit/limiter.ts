import { type BudgetState, documentedLimits, type Limits } from "../options/limits.ts";
import type { Settings } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import type { SharedLimits } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { pump } from "./admission.ts";
import { Budget } from "./budget.ts";
import { DailyLimit } from "./permits.ts";
import { AdmissionQueue, type ConcurrencyLimit, Kind } from "./queue.ts";
import { type Account, type AccountName, accountsOf, type FindAccount } from "./registry.ts";

const never = Number.POSITIVE_INFINITY;
const nobody = { interactive: 0, background: 0 };
// Constants, because thousands of keys remember them.
const dayOf = { requests: "requestsPerDay", emails: "emailsPerDay", events: "eventsPerDay" } as const;

/** The kind of requests that spend these accounts, the last one by weight; common to all clients. */
const kindOf = (accounts: readonly Account[], priority: Priority): Kind => {
  const [budgets, narrowest] = [accounts.map(({ budget }) => budget), accounts.at(-1)];
  const known = narrowest?.kinds.flatMap((kind) => kind.deref() ?? []) ?? [];
  const isSame = (kind: Kind): boolean =>
    kind.priority === priority &&
    kind.budgets.length === budgets.length &&
    kind.budgets.every((budget, at) => budget === budgets[at]);
  const kind = known.find(isSame) ?? new Kind(budgets, priority);
  if (narrowest !== undefined)
    narrowest.kinds = [...new Set([...known, kind])].map((one) => new WeakRef(one));
  return kind;
};

/** The budgets that the requests of one client spend. */
export class RateLimiter {
  readonly #accounts: Readonly<Record<AccountName, Account>>;
  readonly budgets: Readonly<Record<BudgetName, Budget>>;

  /**
   * With `false`, nothing is limited, but a pause that the service asks for still applies.
   *
   * @param find - finds the budgets that other clients of the process made; without it, all are made here.
   */
  constructor(
    limits: Limits | false,
    clock: Clock,
    shared?: Pick<SharedLimits, "open">,
    find: FindAccount = (_name, _numbers, make) => make(undefined),
  ) {
    const accountOf = (name: AccountName): Account => {
      const shown = name === "sending" ? "emails" : name;
      const isLimited = limits !== false && name !== "sending";
      const limit = isLimited ? limits[name] : { ...documentedLimits[shown], max: never };
      const maxPerDay = isLimited ? limits[dayOf[name]] : never;
      return find(name, { limit, maxPerDay }, (scope, { day: counted, pause, keep } = {}) => {
        const opened = shared?.open(name, { limit, maxPerDay, scope }, clock);
        const day = opened?.day ?? counted ?? new DailyLimit(dayOf[shown], maxPerDay, clock);
        const onChange = (): void => pump([account.budget]);
        const onUse = keep && (() => keep(account));
        const context = { clock, shared: opened?.budget, day, onChange, onUse, pause };
        const account: Account = { budget: new Budget(shown, limit, context), kinds: [] };
        return account;
      });
    };
    const [requests, emails, events] = [accountOf("requests"), accountOf("emails"), accountOf("events")];
    this.#accounts = { requests, emails, events, sending: accountOf("sending") };
    this.budgets = { requests: requests.budget, emails: emails.budget, events: events.budget };
  }

  /** A queue for requests that spend these budgets, the last one by weight; `stopsAlone` as in the operation. */
  route(
    names: readonly BudgetName[],
    priority: Priority,
    slots: ConcurrencyLimit,
    stopsAlone = false,
  ): AdmissionQueue {
    const accounts = names.map((name) => this.#accounts[name]);
    if (stopsAlone) accounts.splice(-1, 0, this.#accounts.sending);
    return new AdmissionQueue(kindOf(accounts, priority), slots);
  }

  /** The state of each limit, keyed by its name. */
  state(): Record<keyof Limits, BudgetState> {
    const { requests, emails, events } = this.budgets;
    const { sending } = this.#accounts;
    const { pausedUntil, pausedBy } =
      sending.budget.pausedForMs > emails.pausedForMs ? sending.budget.state : emails.state;
    const ofDay = ({ day, shared }: Budget): BudgetState => {
      const remaining = Math.max(0, day.max - day.used);
      return {
        used: day.used,
        remaining,
        resetsInMs: remaining > 0 ? 0 : day.resetsInMs(1),
        pausedUntil: undefined,
        pausedBy: undefined,
        lost: shared?.lost?.why,
        waiting: nobody,
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

  /** Clears every timer and returns shared permits. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#accounts).map(({ budget }) => budget.close()));
  }
}

let isToldOfThreads = false;

const tellOfThreads = (log: Settings["log"]): void => {
  if (isToldOfThreads || !log.isOn("warn")) return;
  // Loaded by none that has nothing to tell; not imported, because workerd has no such module.
  const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (threads?.isMainThread !== false) return;
  isToldOfThreads = true;
  log.warn(
    "each worker thread counts its requests alone: share the limits by redisLimits, " +
      "or give each thread its part as limits",
    {},
  );
};

/** The limiter of a client, with the budgets that the service counts together with other clients of the process. */
export const sharedLimiter = (settings: Settings, clock: Clock): RateLimiter => {
  const { limits, sharing, log } = settings;
  if (limits !== false && sharing === undefined) tellOfThreads(log);
  return new RateLimiter(limits, clock, sharing, accountsOf(settings, clock));
};
