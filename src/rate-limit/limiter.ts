import type { BudgetState, Limit, Limits } from "../options/limits.ts";
import type { Day, Sharing } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import { Budget } from "./budget.ts";
import type { Slots } from "./concurrency.ts";
import { DayCount } from "./daily-limit.ts";
import { type Kind, type Lane, lane, newKind } from "./lane.ts";
import { fixedLeases, LocalLeases } from "./local-permits.ts";
import { Lanes } from "./queue.ts";

const unlimited: Limit = { max: Number.POSITIVE_INFINITY, perMs: 1 };

/** All that the requests of one key share: budgets, day counts, and the lanes in front of them. */
export class Traffic {
  readonly lanes = new Lanes();
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  readonly days: Readonly<Record<BudgetName, Day>>;
  readonly #kinds = new Map<string, Kind>();
  readonly #lanes = new WeakMap<Slots, Map<string, Lane>>();

  /** `false` for limits paces nothing; a pause that the service asks for holds all the same. */
  constructor(limits: Limits | false, clock: Clock, sharing?: Sharing) {
    const open = (name: BudgetName): { readonly budget: Budget; readonly day: Day } => {
      const limit = limits === false ? unlimited : limits[name];
      const maxPerDay = limits === false ? Number.POSITIVE_INFINITY : limits[`${name}PerDay`];
      const { leases, day } = sharing?.open(name, { limit, maxPerDay }, clock) ?? {
        leases: limits === false ? fixedLeases(limit.max) : new LocalLeases(limit.max),
        day: new DayCount(`${name}PerDay`, maxPerDay, clock),
      };
      return {
        budget: new Budget(name, limit, { clock, onChange: () => this.lanes.pump(), source: leases }),
        day,
      };
    };
    const requests = open("requests");
    const emails = open("emails");
    const events = open("events");
    this.budgets = { requests: requests.budget, emails: emails.budget, events: events.budget };
    this.days = { requests: requests.day, emails: emails.day, events: events.day };
  }

  /** Where those stand who spend these budgets, the last one by weight: clients that share slots, in one line. */
  laneOf(slots: Slots, names: readonly BudgetName[]): Lane {
    const key = names.join();
    const lanes = this.#lanes.get(slots) ?? new Map<string, Lane>();
    this.#lanes.set(slots, lanes);
    const kind = this.#kinds.get(key) ?? newKind();
    this.#kinds.set(key, kind);
    const budgets = names.map((name) => this.budgets[name]);
    const found = lanes.get(key) ?? lane([slots, ...budgets], budgets.at(-1), kind);
    lanes.set(key, found);
    return found;
  }

  /** How each limit stands, keyed by its name. */
  state(): Record<keyof Limits, BudgetState> {
    const ofDay = (day: Day): BudgetState => {
      const left = Math.max(0, day.max - day.used);
      const freesInMs = left > 0 ? 0 : day.freesInMs(1);
      return { used: day.used, left, freesInMs, pausedUntil: undefined, pausedBy: undefined };
    };
    const { budgets, days } = this;
    return {
      requests: budgets.requests.state,
      requestsPerDay: ofDay(days.requests),
      emails: budgets.emails.state,
      emailsPerDay: ofDay(days.emails),
      events: budgets.events.state,
      eventsPerDay: ofDay(days.events),
    };
  }

  /** Drops every timer and gives shared permits back. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.budgets).map((budget) => budget.close()));
  }
}
