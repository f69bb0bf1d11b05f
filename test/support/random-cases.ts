/**
 * How many random cases a test looks at: a quarter of `all` in `npm test`, and all of them in `.ci/run`, which sets
 * TOUCHPOINT_CASES. The first ones are the same in both.
 */
export const randomCases = (all: number): number =>
  process.env.TOUCHPOINT_CASES === "all" ? all : Math.ceil(all / 4);
