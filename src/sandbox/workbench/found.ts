/** The first rows of a search result. */
export interface Found<Row> {
  readonly items: readonly Row[];
  /** Whether there are more rows. */
  readonly more: boolean;
}

const mostRows = 200;

/** The newest matching records, newest first. The search stops when there are enough. */
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

/** Whether one of these texts contains the search text, which is in lower case; letter case does not matter. */
export const has = (search: string, ...texts: readonly (string | undefined)[]): boolean =>
  search === "" || texts.some((text) => text?.toLowerCase().includes(search) ?? false);
