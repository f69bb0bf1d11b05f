// A registered symbol, because the readers of files and the import are in different entries of the package.
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

/**
 * Why an item that stands for an unreadable line could not be read; undefined for any other item. Only the command line
 * yields such items. Don't count them, because the other readers leave unreadable lines out.
 */
export const unreadableReason = (item: unknown): string | undefined => {
  const { [unreadableKey]: reason }: { [unreadableKey]?: unknown } = Object(item);
  return typeof reason === "string" ? reason : undefined;
};

/** Whether an item stands for an unreadable line. */
export const isUnreadable = (item: unknown): boolean => unreadableReason(item) !== undefined;

const settledKey = Symbol.for("touchpoint-sdk.settled-records");

type OnSettled = (records: number) => void;

/** Adds a method to a source. A consumer calls it to report how many records an earlier run has settled. */
export const withSettled = <T extends object>(source: T, onSettled: OnSettled): T =>
  Object.defineProperty(source, settledKey, { value: onSettled });

/** Reports the number of settled records to a source, if the source has the method for it. */
export const reportSettled = (source: object, records: number): void => {
  const onSettled: unknown = Reflect.get(source, settledKey);
  if (typeof onSettled === "function") onSettled(records);
};
