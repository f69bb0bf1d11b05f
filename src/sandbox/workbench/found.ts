/** The first of what was looked for. */
export interface Found<Row> {
  readonly items: readonly Row[];
  /** Whether there is more than these. */
  readonly more: boolean;
}

const mostRows = 200;

/** The newest records that fit, newest first; looking ends with the last that is shown. */
export const found = <T, Row>(
  oldestFirst: readonly T[],
  fits: (record: T) => boolean,
  toRow: (record: T) => Row,
): Found<Row> => {
  const items: Row[] = [];
  for (let at = oldestFirst.length - 1; at >= 0; at -= 1) {
    const record = oldestFirst[at];
    if (record === undefined || !fits(record)) continue;
    if (items.length === mostRows) return { items, more: true };
    items.push(toRow(record));
  }
  return { items, more: false };
};

/** Whether one of these texts has the words in it, in any case of letters. */
export const has = (search: string, ...texts: readonly (string | undefined)[]): boolean =>
  search === "" || texts.some((text) => text?.toLowerCase().includes(search) ?? false);
