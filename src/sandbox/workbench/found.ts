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

/** The text to search for, in lower case. */
export const searchOf = (filter: URLSearchParams): string => (filter.get("search") ?? "").toLowerCase();

// As the page writes it: JSON with two blanks, times without the T.
const textOf = (shown: unknown): string =>
  typeof shown === "string" ? shown : (JSON.stringify(shown, null, 2) ?? "");
const momentOf = (text: string): string =>
  text.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)[.\d]*Z/g, "$1 $2 UTC");

/** Whether what the page shows of a record, in its row or its details, contains the text; letter case does not matter. */
export const has = <T>(
  search: string,
  row: (record: T) => object,
  record: T,
  details: (record: T) => readonly unknown[],
): boolean => {
  if (search === "") return true;
  const within = (shown: unknown) => momentOf(textOf(shown)).toLowerCase().includes(search);
  return Object.values(row(record)).some(within) || details(record).some(within);
};
