/** The first rows of a search result. */
export interface Found<Row> {
  readonly items: readonly Row[];
  /** Whether there are more rows. */
  readonly more: boolean;
  /** What can no longer be found. */
  readonly note?: string | undefined;
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

// As the page writes it: JSON with two blanks, times without the T.
const textOf = (shown: unknown): string =>
  (typeof shown === "string" ? shown : (JSON.stringify(shown, null, 2) ?? "")).replace(
    /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z/g,
    "$1 $2 UTC",
  );

/** Whether what the page shows of a record contains the text of `?search=`; letter case does not matter. */
export const shows = (filter: URLSearchParams, shown: () => object): boolean => {
  const search = (filter.get("search") ?? "").toLowerCase();
  return search === "" || Object.values(shown()).some((one) => textOf(one).toLowerCase().includes(search));
};
