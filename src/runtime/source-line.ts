// A registered symbol, because the reader of a file is in another entry of the package than the import that reports
// lines.
const lineKey = Symbol.for("touchpoint-sdk.source-line");

/** Marks a record with its line number. The mark is not enumerable. */
export const markLine = <T extends object>(item: T, line: number): T =>
  Object.defineProperty(item, lineKey, { value: line, configurable: true });

/** The line number of a record, counted from 1; undefined if the record is not from a file. */
export const lineOf = (item: unknown): number | undefined => {
  if (typeof item !== "object" || item === null) return undefined;
  const line: unknown = Reflect.get(item, lineKey);
  return typeof line === "number" ? line : undefined;
};

const unreadableKey = Symbol.for("touchpoint-sdk.unreadable-line");

/** Whether an item represents an unreadable line. Such items don't count, because other readers leave them out. */
export const isUnreadable = (item: unknown): boolean =>
  typeof item === "object" && item !== null && Reflect.get(item, unreadableKey) === true;

const settledKey = Symbol.for("touchpoint-sdk.settled-records");

type TellSettled = (records: number) => void;

/** Adds a method to a source with which a consumer reports how many records an earlier run has settled. */
export const withSettled = <T extends object>(source: T, tell: TellSettled): T =>
  Object.defineProperty(source, settledKey, { value: tell });

/** Reports the number of settled records to a source, if the source has the method for it. */
export const tellSettled = (source: object, records: number): void => {
  const tell: unknown = Reflect.get(source, settledKey);
  if (typeof tell === "function") tell(records);
};
