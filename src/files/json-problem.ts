/**
 * What the JSON parser says, fit for a log: without the text it stumbled over, which may be somebody's address, and
 * without the line that newer versions of Node count within the text, where it is always 1.
 */
export const jsonProblem = (message: string): string =>
  message.replace(/, (\.\.\.)?".*$/s, "").replace(/ \(line \d+ column \d+\)$/, "");
