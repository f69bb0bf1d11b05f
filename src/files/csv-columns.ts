import { isPlainObject } from "../runtime/values.ts";
import { joinPath, leavesOf, splitPath } from "./dotted-path.ts";

/** A column to write: its name in the header, and where its values are in a record. */
export interface WriteColumn {
  readonly name: string;
  readonly path: string;
  readonly keys: readonly string[];
}

/** The columns to write, in order: paths such as `customFields.plan`, or paths and their names in the header. */
export type WriteColumns = readonly string[] | Readonly<Record<string, string>>;

/** What is wrong with columns that the caller gave. */
export const columnFaults = (given: unknown): string[] => {
  if (typeof given !== "object" || given === null) {
    return [`columns must be ["email"] or { email: "E-mail" }, got ${JSON.stringify(given)}`];
  }
  const named: readonly (readonly [unknown, unknown])[] = Array.isArray(given)
    ? given.map((path: unknown) => [path, path] as const)
    : Object.entries(given);
  if (named.length === 0) return ["columns must name at least one column"];
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  if (!named.flat().every(isText)) return ["columns must be texts that are not empty"];
  const names = named.map(([, name]) => name);
  const seen = new Set<unknown>();
  const twice = names.filter((name) => seen.size === seen.add(name).size);
  return twice.map((name) => `columns: ${name} comes twice`);
};

/** Columns as the caller gave them. */
export const columnsFrom = (given: WriteColumns): WriteColumn[] => {
  const named = Array.isArray(given)
    ? given.map((path: string) => [path, path] as const)
    : Object.entries(given);
  return named.map(([path, name]) => ({ name, path, keys: splitPath(path) }));
};

const ancestorsOf = (keys: readonly string[]): string[] =>
  keys.slice(1).map((_, index) => joinPath(keys.slice(0, index + 1)));

/** Gathers the fields of records, one record after the other. */
export class FoundColumns {
  readonly #found = new Map<string, { keys: string[]; hasValue: boolean }>();

  add(record: object): void {
    if (!isPlainObject(record)) return;
    for (const [keys, value] of leavesOf(record)) {
      const path = joinPath(keys);
      const hasValue = this.#found.get(path)?.hasValue || (value !== null && value !== undefined);
      this.#found.set(path, { keys, hasValue });
    }
  }

  /** Every field, in the order of appearance; objects become one column per field of theirs. */
  columns(): WriteColumn[] {
    const found = this.#found;
    // A field that is an object here and null there is the object's columns; one that also is something else is
    // one column, with the object in it as JSON.
    const isAbove = new Set([...found.values()].flatMap(({ keys }) => ancestorsOf(keys)));
    return [...found]
      .filter(([path, { hasValue }]) => hasValue || !isAbove.has(path))
      .filter(([, { keys }]) => !ancestorsOf(keys).some((path) => found.get(path)?.hasValue))
      .map(([path, { keys }]) => ({ name: path, path, keys }));
  }
}

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
