/**
 * Chooses cells so that each of the keys that any cell has is in the sample. Neighbours are passed over at first, so that
 * what is chosen for one key is not the same for all.
 */
export const sampleOf = <Cell>(
  cells: readonly Cell[],
  keysOf: (cell: Cell) => readonly string[],
): readonly Cell[] => {
  const strides = 7;
  const order = cells.map((_, index) => index).sort((a, b) => (a % strides) - (b % strides) || a - b);
  const known = new Set<string>();
  const chosen = order.filter((index) => {
    const cell = cells[index];
    const keys = cell === undefined ? [] : keysOf(cell);
    const isNew = keys.some((key) => !known.has(key));
    for (const key of keys) known.add(key);
    return isNew;
  });
  return cells.filter((_, index) => chosen.includes(index));
};
