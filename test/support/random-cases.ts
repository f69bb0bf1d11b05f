/**
 * Returns how many random cases a test runs: a quarter of `all` in `npm test`, and all of them in `.ci/run`, which sets
 * TOUCHPOINT_CASES. Both start with the same cases.
 */
export const randomCases = (all: number): number =>
  process.env.TOUCHPOINT_CASES === "all" ? all : Math.ceil(all / 4);
