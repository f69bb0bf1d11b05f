import { splitPath } from "./dotted-path.ts";

/** A column of a CSV file: its name there, and where its cells go in a record. */
export interface Column {
  readonly name: string;
  readonly keys: readonly [string, ...string[]];
}

/** New names for columns: `{ "E-mail": "email", "Internal note": false }`; `false` leaves the column out. */
export type ColumnNames = Readonly<Record<string, string | false>>;

const isInside = (inner: Column, outer: Column): boolean =>
  inner.keys.length > outer.keys.length && outer.keys.every((key, at) => inner.keys[at] === key);

const faultsOf = (columns: readonly Column[]): string[] =>
  columns.flatMap((column, at) => {
    const earlier = columns.slice(0, at);
    const path = column.keys.join(".");
    const clash = columns.find((other) => isInside(column, other));
    return [
      earlier.some((other) => other.keys.join("\0") === column.keys.join("\0")) ? `${path} comes twice` : "",
      clash === undefined ? "" : `${path} lies inside ${clash.keys.join(".")}, which has a column of its own`,
      column.keys.includes("__proto__") ? `${path} cannot be the name of a field` : "",
    ].filter((fault) => fault !== "");
  });

/**
 * Reads a header row. A column without a name is left out, as spreadsheets add such columns at the end.
 *
 * @returns a column, or undefined for one to leave out, per cell; or why the header cannot be used.
 */
export const columnsOf = (
  names: readonly string[],
  renamed: ColumnNames,
): { readonly columns: readonly (Column | undefined)[] } | { readonly problem: string } => {
  const columns = names.map((name): Column | undefined => {
    const path = Object.hasOwn(renamed, name) ? renamed[name] : name;
    return path === undefined || path === false || path === "" ? undefined : { name, keys: splitPath(path) };
  });
  const missing = Object.keys(renamed).filter((name) => !names.includes(name));
  const faults = [
    ...missing.map((name) => `there is no column ${JSON.stringify(name)}`),
    ...faultsOf(columns.filter((column) => column !== undefined)),
  ];
  if (faults.length === 0) return { columns };
  return {
    problem: `${faults.join("; ")}. Set the option columns: { "name in the file": "field" or false }`,
  };
};
