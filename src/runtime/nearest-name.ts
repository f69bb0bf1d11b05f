/** The edit distance: the number of letters to insert, remove or replace. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

/** The names of options in other libraries, with the names here. */
const aliases: Readonly<Record<string, string>> = {
  retries: "maxRetries",
  retry: "maxRetries",
  maxretry: "maxRetries",
  idempotencykey: "once",
  token: "apiKey",
  url: "baseUrl",
};

/** Removes the usual differences in spelling from a name: case, `_` and `-`. */
export const foldedName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The candidate that the user probably meant; undefined if no candidate is similar. */
export const nearestTo = (name: string, candidates: readonly string[]): string | undefined => {
  const alias = aliases[foldedName(name)];
  if (alias !== undefined && candidates.includes(alias)) return alias;
  const longer = candidates.find(
    (candidate) => foldedName(name).length > 2 && foldedName(candidate).startsWith(foldedName(name)),
  );
  if (longer !== undefined) return longer;
  const near = candidates
    .map((candidate) => ({ candidate, steps: distance(foldedName(name), foldedName(candidate)) }))
    .sort((a, b) => a.steps - b.steps)[0];
  const isNear = near !== undefined && near.steps < name.length && near.steps <= Math.max(2, name.length / 3);
  return isNear ? near.candidate : undefined;
};

/** The end of a message about an unknown name; empty if no candidate is similar. */
export const suggestion = (name: string, candidates: readonly string[]): string => {
  const nearest = nearestTo(name, candidates);
  return nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
};
