import { splitPath } from "./dotted-path.ts";

/** A column of a CSV file: its name there, and where its cells go in a record. */
export interface Column {
  readonly name: string;
  readonly keys: readonly [string, ...string[]];
}

/** New names for columns: `{ "E-mail": "email", "Internal note": false }`; `false` leaves the column out. */
export type ColumnNames = Readonly<Record<string, string | false>>;

/** What is wrong with the fields that the columns fill; linear in the columns, of which a file may have thousands. */
const faultsOf = (columns: readonly Column[]): string[] => {
  const seen = new Set<string>();
  const keyOf = (keys: readonly string[]): string => keys.join("\0");
  const all = new Set(columns.map(({ keys }) => keyOf(keys)));
  return columns.flatMap(({ keys }) => {
    const path = keys.join(".");
    const clash = keys.findIndex((_, depth) => depth > 0 && all.has(keyOf(keys.slice(0, depth))));
    const isRepeated = seen.size === seen.add(keyOf(keys)).size;
    return [
      isRepeated ? `${path} comes twice` : "",
      clash < 0 ? "" : `${path} lies inside ${keys.slice(0, clash).join(".")}, which has a column of its own`,
      keys.includes("__proto__") ? `${path} cannot be the name of a field` : "",
    ].filter((fault) => fault !== "");
  });
};

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
  const present = new Set(names);
  const missing = Object.keys(renamed).filter((name) => !present.has(name));
  const faults = [
    ...missing.map((name) => `there is no column ${JSON.stringify(name)}`),
    ...faultsOf(columns.filter((column) => column !== undefined)),
  ];
  if (faults.length === 0) return { columns };
  return {
    problem: `${faults.join("; ")}. Set the option columns: { "name in the file": "field" or false }`,
  };
};
