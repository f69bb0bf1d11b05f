import { ValidationError } from "../errors.ts";

const hintFor = (records: unknown): string => {
  const { data, then }: { data?: unknown; then?: unknown } = Object(records);
  if (Array.isArray(data)) return "; this is one page: give page.data, or the list itself without await";
  return typeof then === "function" ? "; this is a promise: await it" : "";
};

/** Refuses what is no source of records before a file is touched. @throws ValidationError */
export const assertRecords = (records: unknown): void => {
  const isIterable =
    typeof records === "object" &&
    records !== null &&
    (Symbol.asyncIterator in records || Symbol.iterator in records);
  if (isIterable) return;
  throw new ValidationError(
    `the records must be an array, a generator or a stream of objects${hintFor(records)}`,
  );
};
