import type { Clock } from "../clock.ts";
import type { BudgetState, Limit, Limits } from "../limits.ts";
import type { BudgetName } from "../operations/define.ts";
import { Budget } from "./budget.ts";
import { DayCount } from "./day-count.ts";
import { Lanes } from "./lanes.ts";
import { type LeaseSource, localLeases } from "./leases.ts";

const unlimited: Limit = { max: Number.POSITIVE_INFINITY, perMs: 1 };

/** All that the requests of one key share: budgets, day counts, and the lanes in front of them. */
export class Traffic {
  readonly lanes = new Lanes();
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  readonly days: Readonly<Record<BudgetName, DayCount>>;

  /** `false` for limits paces nothing; a pause that the service asks for holds all the same. */
  constructor(
    limits: Limits | false,
    clock: Clock,
    leasesFor?: (name: BudgetName, limit: Limit) => LeaseSource,
  ) {
    const budget = (name: BudgetName): Budget => {
      const limit = limits === false ? unlimited : limits[name];
      return new Budget(name, limit, {
        clock,
        onChange: () => this.lanes.pump(),
        openLeases: () => leasesFor?.(name, limit) ?? localLeases(limit.max),
      });
    };
    const day = (name: BudgetName): DayCount =>
      new DayCount(
        `${name}PerDay`,
        limits === false ? Number.POSITIVE_INFINITY : limits[`${name}PerDay`],
        clock,
      );
    this.budgets = { requests: budget("requests"), emails: budget("emails"), events: budget("events") };
    this.days = { requests: day("requests"), emails: day("emails"), events: day("events") };
  }

  /** How each limit stands, keyed by its name. */
  state(): Record<keyof Limits, BudgetState> {
    const ofDay = (day: DayCount): BudgetState => {
      const left = Math.max(0, day.max - day.used);
      return { used: day.used, left, freesInMs: left > 0 ? 0 : day.freesInMs(1), pausedUntil: undefined };
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
}
