import type { Meter } from "../limits.ts";
import { operationIds } from "../router.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import type { World } from "../world.ts";
import type { Controlled } from "./controls.ts";

const mostPoints = 2_000;

/** Records the use of every limit over time: each call adds the current use. */
export const createBudgetHistory = (world: () => World, clock: SandboxClock) => {
  /**
   * Points, oldest first; `at` is in milliseconds since 1970 on the sandbox's clock. A reset makes new meters with new
   * histories.
   */
  const histories = new WeakMap<Meter, [at: number, used: number][]>();
  return () =>
    world().meters.flatMap(({ owner, meters }) =>
      [...meters].map(([limit, meter]) => {
        const points = histories.get(meter) ?? [];
        histories.set(meter, points);
        const at = clock.wallTime();
        const used = Math.round(meter.used(clock.now()));
        const [before, last] = points.slice(-2);
        // A stretch without a change needs only its two ends.
        if (last !== undefined && before?.[1] === used && last[1] === used) last[0] = at;
        else points.push([at, used]);
        if (points.length > mostPoints) points.shift();
        return { owner, limit, ...meter.window, used, points };
      }),
    );
};

/** The use of a limit over time, with the limit's owner: `key 1`, `workspace default`, `mail account mail-1`. */
export type BudgetSeries = ReturnType<ReturnType<typeof createBudgetHistory>>[number];

/** The sandbox at a glance. The page receives it after each change. */
export const overviewOf = ({ world, clock, version }: Controlled, budgets: readonly BudgetSeries[]) => ({
  at: new Date(clock.wallTime()).toISOString(),
  frozen: clock.isFrozen,
  /** How far the sandbox's clock is ahead of its base clock. */
  aheadMs: Math.round(clock.aheadMs),
  /** Grows with every change of a record or a request. */
  version: version(),
  counts: world().journal.counts,
  workspaces: [...world().workspaces.values()].map(({ name, contacts, events, emails, scheduled }) => ({
    name,
    contacts: contacts.all.length,
    events: events.length,
    emails: emails.length,
    /** Emails that are not sent yet. */
    scheduled: [...scheduled.values()].filter(({ status }) => status === "SCHEDULED").length,
  })),
  plans: world().plans.pending,
  budgets: budgets.map(({ points: _points, ...now }) => now),
  operations: operationIds,
});
