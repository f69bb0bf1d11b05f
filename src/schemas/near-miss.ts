const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Whether two words of letters differ by one letter: left out, added, changed, or swapped with its neighbour. */
const isOneSlipApart = (a: string, b: string): boolean => {
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

/** Finds the name that is probably a misspelling of `wanted`: other case, other separators, or one slip. */
export const nearMiss = (wanted: string, names: readonly string[]): string | undefined =>
  names.find((name) => {
    const [a, b] = [plain(wanted), plain(name)];
    // In a shorter word one slip may well be another word.
    return name !== wanted && (a === b || (a.length > 4 && isOneSlipApart(a, b)));
  });
