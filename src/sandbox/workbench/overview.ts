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
}

/** The sandbox at a glance; the page gets it whenever it has changed. */
export interface Overview {
  /** The time on the sandbox's clock, ISO 8601. */
  readonly at: string;
  readonly frozen: boolean;
  /** How far that clock is ahead of its base clock, in milliseconds. */
  readonly aheadMs: number;
  /** Grows with every change of a record or a request. */
  readonly version: number;
  readonly counts: RequestCounts;
  readonly workspaces: readonly WorkspaceCounts[];
  readonly plans: readonly PendingPlan[];
  readonly budgets: readonly Omit<BudgetSeries, "points">[];
  readonly operations: readonly string[];
}

/** Looks at the sandbox as it is now. */
export const overviewOf = (
  { journal, workspaces, plans }: World,
  clock: SandboxClock,
  version: number,
  budgets: readonly BudgetSeries[],
): Overview => ({
  at: new Date(clock.wallTime()).toISOString(),
  frozen: clock.isFrozen,
  aheadMs: Math.round(clock.aheadMs),
  version,
  counts: journal.counts,
  workspaces: [...workspaces.values()].map(({ name, contacts, events, emails, scheduled }) => ({
    name,
    contacts: contacts.all.length,
    events: events.length,
    emails: emails.length,
    scheduled: [...scheduled.values()].filter(({ status }) => status === "SCHEDULED").length,
  })),
  plans: plans.pending,
  budgets: budgets.map(({ points: _points, ...now }) => now),
  operations: operationIds,
});
