import { isPlainObject, joinPath, leavesOf, splitPath } from "./dotted-path.ts";

/** A column to write: its name in the header, and where its values are in a record. */
export interface WriteColumn {
  readonly name: string;
  readonly path: string;
  readonly keys: readonly string[];
}

/** The columns to write, in order: paths such as `customFields.plan`, or paths and their names in the header. */
export type WriteColumns = readonly string[] | Readonly<Record<string, string>>;

/** Columns as the caller gave them. */
export const columnsFrom = (given: WriteColumns): WriteColumn[] => {
  const named = Array.isArray(given)
    ? given.map((path: string) => [path, path] as const)
    : Object.entries(given);
  return named.map(([path, name]) => ({ name, path, keys: splitPath(path) }));
};

const ancestorsOf = (keys: readonly string[]): string[] =>
  keys.slice(1).map((_, index) => joinPath(keys.slice(0, index + 1)));

/** Every field of these records, in the order of appearance; objects become one column per field of theirs. */
export const columnsIn = (records: readonly object[]): WriteColumn[] => {
  const found = new Map<string, { keys: string[]; hasValue: boolean }>();
  for (const record of records) {
    if (!isPlainObject(record)) continue;
    for (const [keys, value] of leavesOf(record)) {
      const path = joinPath(keys);
      const hasValue = found.get(path)?.hasValue || (value !== null && value !== undefined);
      found.set(path, { keys, hasValue });
    }
  }
  // A field that is an object here and null there is the object's columns; one that also is something else is
  // one column, with the object in it as JSON.
  const isAbove = new Set([...found.values()].flatMap(({ keys }) => ancestorsOf(keys)));
  return [...found]
    .filter(([path, { hasValue }]) => hasValue || !isAbove.has(path))
    .filter(([, { keys }]) => !ancestorsOf(keys).some((path) => found.get(path)?.hasValue))
    .map(([path, { keys }]) => ({ name: path, path, keys }));
};

/** The first field of a record that has a value and no column. */
export const fieldBeside = (columns: ReadonlySet<string>, record: object): string | undefined => {
  if (!isPlainObject(record)) return undefined;
  for (const [keys, value] of leavesOf(record)) {
    if (value === null || value === undefined) continue;
    const path = joinPath(keys);
    if (!columns.has(path) && !ancestorsOf(keys).some((above) => columns.has(above))) return path;
  }
  return undefined;
};
