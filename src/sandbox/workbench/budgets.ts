import type { SandboxClock } from "../sandbox-clock.ts";
import type { World } from "../world.ts";

/** How much of a limit was used over time. */
export interface BudgetSeries {
  /** Whose limit it is: `key 1`, `workspace default`, `mail account mail-1`. */
  readonly owner: string;
  readonly limit: string;
  readonly max: number;
  readonly windowMs: number;
  readonly used: number;
  /** Pairs of time (milliseconds since 1970, on the sandbox's clock) and use, oldest first. */
  readonly points: readonly (readonly [at: number, used: number])[];
}

const mostPoints = 2_000;

/** The series from a given time on, each starting with the last point before it. */
export const since = (series: readonly BudgetSeries[], from: number): readonly BudgetSeries[] =>
  series.map((one) => {
    const first = one.points.findLastIndex(([at]) => at < from);
    return { ...one, points: one.points.slice(Math.max(0, first)) };
  });

/** Records the use of every limit over time. `sample` adds the current use. */
export const createBudgetHistory = (world: () => World, clock: SandboxClock) => {
  let of = world();
  let series = new Map<string, [number, number][]>();

  const pointsOf = (name: string): [number, number][] => {
    const points = series.get(name) ?? [];
    series.set(name, points);
    return points;
  };

  const add = (points: [number, number][], at: number, used: number): void => {
    const [before, last] = points.slice(-2);
    // A stretch without a change needs only its two ends.
    if (last !== undefined && before !== undefined && before[1] === used && last[1] === used) last[0] = at;
    else points.push([at, used]);
    if (points.length > mostPoints) points.shift();
  };

  return {
    sample(): readonly BudgetSeries[] {
      if (of !== world()) {
        of = world();
        series = new Map();
      }
      const at = clock.wallTime();
      return of.owners.flatMap(({ name: owner, meters }) =>
        [...meters].map(([limit, meter]) => {
          const points = pointsOf(`${owner}/${limit}`);
          const used = Math.round(meter.used(clock.now()));
          add(points, at, used);
          return { owner, limit, ...meter.window, used, points };
        }),
      );
    },
  };
};
