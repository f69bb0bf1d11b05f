const plain = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, "");

/** Whether one letter is left out, added, changed, or swapped with its neighbour. */
const isOneEditApart = (a: string, b: string): boolean => {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const differs = [...short].findIndex((letter, at) => letter !== long[at]);
  const at = differs < 0 ? short.length : differs;
  const [rest, other] = [short.slice(at), long.slice(at)];
  if (short.length < long.length) return rest === other.slice(1);
  const swapped = `${rest[1]}${rest[0]}${rest.slice(2)}`;
  return rest.slice(1) === other.slice(1) || swapped === other;
};

// In a shorter name one other letter may well make another word.
const leastLetters = 4;

// One letter away from a field of a contact, and words of their own: a column of addresses has a state.
const otherWords = ["game", "nodes", "same", "state", "votes"];

/** Whether a name is probably a misspelling of another: in case or separators, or by one letter. */
export const isSlipOf = (name: string, meant: string): boolean => {
  const [given, right] = [plain(name), plain(meant)];
  if (name === meant) return false;
  const canSlip = right.length >= leastLetters && !otherWords.includes(given);
  return given === right || (canSlip && isOneEditApart(given, right));
};
