import type { PendingPlan } from "../fault-plan.ts";
import type { RequestCounts } from "../journal.ts";
import { operationIds } from "../router.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import type { World } from "../world.ts";
import type { BudgetSeries } from "./budgets.ts";

/** How many records a workspace has. */
interface WorkspaceCounts {
  readonly name: string;
  readonly contacts: number;
  readonly events: number;
  readonly emails: number;
  /** Emails that are not sent yet. */
  readonly scheduled: number;
  /** Changes with every repeat of an event and every end of a scheduled email. */
  readonly revision: number;
}

/** The sandbox at a glance; the page gets it whenever it has changed. */
export interface Overview {
  /** The time on the sandbox's clock, ISO 8601. */
  readonly at: string;
  readonly frozen: boolean;
  /** How far that clock is ahead of its base clock, in milliseconds. */
  readonly aheadMs: number;
  /** Changes with every reset and load. */
  readonly generation: number;
  readonly counts: RequestCounts;
  /** How many requests are not answered yet. */
  readonly pending: number;
  readonly workspaces: readonly WorkspaceCounts[];
  readonly plans: readonly PendingPlan[];
  readonly budgets: readonly Omit<BudgetSeries, "points">[];
  readonly operations: readonly string[];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** `generation` counts the worlds seen so far. */
export const createOverview = (world: () => World, clock: SandboxClock) => {
  let seen: World | undefined;
  let generation = 0;
  return (budgets: readonly BudgetSeries[]): Overview => {
    const current = world();
    if (current !== seen) generation += 1;
    seen = current;
    return {
      at: new Date(clock.wallTime()).toISOString(),
      frozen: clock.isFrozen,
      aheadMs: Math.round(clock.aheadMs),
      generation,
      counts: current.journal.counts,
      pending: current.journal.pending,
      workspaces: [...current.workspaces.values()].map(({ name, contacts, events, emails, scheduled }) => {
        const waiting = [...scheduled.values()].filter(({ status }) => status === "SCHEDULED").length;
        return {
          name,
          contacts: contacts.all.length,
          events: events.length,
          emails: emails.length,
          scheduled: waiting,
          revision: sum(events.map(({ repeats }) => repeats)) + scheduled.size - waiting,
        };
      }),
      plans: current.plans.pending,
      budgets: budgets.map(({ points: _points, ...now }) => now),
      operations: operationIds,
    };
  };
};
