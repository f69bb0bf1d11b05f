// Shared by the copies of the package: the reader of a file is in another entry than the import that reports its lines.
const lineKey = Symbol.for("touchpoint-sdk.source-line");

/** Marks a record with its line in the file; the mark is not enumerable. */
export const markLine = <T extends object>(item: T, line: number): T =>
  Object.defineProperty(item, lineKey, { value: line, configurable: true });

/** The line that a record was read from, counted from 1; undefined if it is not from a file. */
export const lineOf = (item: unknown): number | undefined => {
  if (typeof item !== "object" || item === null) return undefined;
  const line: unknown = Reflect.get(item, lineKey);
  return typeof line === "number" ? line : undefined;
};

const unreadableKey = Symbol.for("touchpoint-sdk.unreadable-line");

/** Whether an item stands for a line without a record. Such items are not counted, as where the reader leaves them out. */
export const isUnreadable = (item: unknown): boolean =>
  typeof item === "object" && item !== null && Reflect.get(item, unreadableKey) === true;

const settledKey = Symbol.for("touchpoint-sdk.settled-records");

type TellSettled = (records: number) => void;

/** Lets a consumer tell its source how many records an earlier run has settled. */
export const withSettled = <T extends object>(source: T, tell: TellSettled): T =>
  Object.defineProperty(source, settledKey, { value: tell });

/** Tells a source how many of its records are settled; sources without the method are left alone. */
export const tellSettled = (source: object, records: number): void => {
  const tell: unknown = Reflect.get(source, settledKey);
  if (typeof tell === "function") tell(records);
};
