/** A name without what people write in different ways: case, `_`, `-` and blanks. */
export const folded = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, "");

/** Whether two words differ by one letter: left out, added, changed, or swapped with its neighbour. */
const isOneSlipApart = (a: string, b: string): boolean => {
  // First what rules out nearly every pair.
  if (Math.abs(a.length - b.length) > 1) return false;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const [rest, other] = [short.slice(at), long.slice(at)];
  if (short.length < long.length) return rest === other.slice(1);
  return (
    rest.slice(1) === other.slice(1) ||
    (rest[0] === other[1] && rest[1] === other[0] && rest.slice(2) === other.slice(2))
  );
};

/** In a shorter name one slip may well be another word. */
const shortestSlip = 4;

// One letter away from a field of the document, and words of their own: the service may have fields of these names.
const otherWords = new Set(["ext", "game", "next", "nodes", "one", "same", "state", "test", "votes"]);

/**
 * Finds the field that a name is probably a misspelling of: the same letters, or one slip.
 *
 * @param fields - by their folded names.
 * @param isMissing - only a field that was not given can be meant.
 */
export const nearMiss = (
  name: string,
  fields: ReadonlyMap<string, string>,
  isMissing: (field: string) => boolean,
): string | undefined => {
  const word = folded(name);
  // Two slips, and yet a common misspelling: `propertys`.
  const same = fields.get(word) ?? fields.get(word.replace(/ys$/, "ies"));
  if (same !== undefined && isMissing(same)) return same;
  if (otherWords.has(word)) return undefined;
  for (const [letters, field] of fields)
    if (letters.length >= shortestSlip && isOneSlipApart(letters, word) && isMissing(field)) return field;
  return undefined;
};
