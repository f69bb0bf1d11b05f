/** The first rows of a search result. */
export interface Rows<Row> {
  readonly items: readonly Row[];
  /** Whether there are more rows. */
  readonly more: boolean;
  /** A sentence about records that are too old for the list. */
  readonly note?: string | undefined;
}

const mostRows = 200;

/** The newest matching records, newest first. The search stops when there are enough. */
export const selectRows = <T, Row>(
  oldestFirst: readonly T[],
  fits: (record: T) => boolean,
  toRow: (record: T) => Row,
): Rows<Row> => {
  const items: Row[] = [];
  for (let index = oldestFirst.length - 1; index >= 0; index -= 1) {
    const record = oldestFirst[index];
    if (record === undefined || !fits(record)) continue;
    if (items.length === mostRows) return { items, more: true };
    items.push(toRow(record));
  }
  return { items, more: false };
};

// Writes a value as the page shows it: JSON indented by two spaces, times without the T.
const textOf = (shown: unknown): string =>
  (typeof shown === "string" ? shown : (JSON.stringify(shown, null, 2) ?? "")).replace(
    /(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z/g,
    "$1 $2 UTC",
  );

/** Whether one of the fields that the page shows contains the text of `?search=`, in any case. */
export const shows = (filter: URLSearchParams, fields: () => object): boolean => {
  const search = (filter.get("search") ?? "").toLowerCase();
  return search === "" || Object.values(fields()).some((one) => textOf(one).toLowerCase().includes(search));
};
