import { readFileSync } from "node:fs";
import type { CellType, ColumnNames } from "../files/index.ts";
import { Contact, type Schema } from "../index.ts";
import { foldedName, nearestTo } from "../runtime/nearest-name.ts";
import { isRecord, isString, messageOf } from "../runtime/values.ts";
import { type Request, UsageError } from "./command.ts";
import { guessedMap, salutationIn } from "./guessed-columns.ts";
import { shellWord } from "./terminal.ts";

/** The documented fields of a record, in the order of the document. */
export const fieldsOf = (schema: Schema): readonly string[] => Object.keys(Reflect.get(schema, "shape"));

/** The documented fields of a contact, in the order of an export. */
export const contactFields = fieldsOf(Contact);

const isField = (name: string): boolean =>
  /^customFields\../i.test(name) || contactFields.some((field) => foldedName(field) === foldedName(name));

/** The field whose name is nearest to that of a column; undefined if none is near. */
const nearestField = (column: string): string | undefined => {
  const [name = "", ...inside] = column.split(".");
  const near = nearestTo(name, contactFields);
  return near === "customFields" ? [near, ...inside].join(".") : near;
};

/**
 * Refuses columns of an export that are no documented field of a contact.
 *
 * @param where - the option that names them.
 * @throws UsageError naming every such column.
 */
export const checkColumns = (where: string, columns: readonly string[]): void => {
  const unknown = columns.filter(
    (column) => !contactFields.includes(column) && !column.startsWith("customFields."),
  );
  if (unknown.length === 0) return;
  const faults = unknown.map((column) => {
    const near = nearestField(column);
    return `"${column}" is not a field of a contact${near === undefined ? "" : ` (did you mean "${near}"?)`}.`;
  });
  const fields = contactFields.join(", ");
  throw new UsageError(
    `${where}: ${faults.join(" ")} The fields are ${fields}; a custom one is customFields.<its name>`,
  );
};

/** The options that map the columns of a file, as they are typed. */
export interface GivenMap {
  readonly columns: ColumnNames;
  readonly types: Readonly<Record<string, CellType>>;
}

const fromFile = (path: string): ColumnNames => {
  let columns: unknown;
  try {
    columns = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new UsageError(`--map @${path}: cannot be read as JSON (${messageOf(cause)})`);
  }
  if (!isRecord(columns) || !Object.values(columns).every((field) => isString(field) || field === false))
    throw new UsageError(
      `--map @${path}: must be an object such as { "Email Address": "email", "*": false }`,
    );
  // Each value was just checked.
  return columns as ColumnNames;
};

const cellTypes = ["text", "number", "boolean", "list"];

/**
 * Reads `--map` and `--types`.
 *
 * @throws UsageError for an entry of another form, or a field that does not exist.
 */
export const givenMap = (request: Pick<Request, "values" | "lists">): GivenMap => {
  const columns: Record<string, string | false> = {};
  for (const entry of request.lists.map ?? []) {
    if (entry.startsWith("@")) {
      Object.assign(columns, fromFile(entry.slice(1)));
      continue;
    }
    // The name of a column may have an equals sign; that of a field has none.
    const at = entry.lastIndexOf("=");
    if (at <= 0)
      throw new UsageError(
        `--map must be "File column=field", or "File column=" to leave it out, got "${entry}"`,
      );
    columns[entry.slice(0, at).trim()] = entry.slice(at + 1).trim() || false;
  }
  const unknown = Object.values(columns).filter((field) => field !== false && !isField(field));
  if (unknown.length > 0) checkColumns("--map", unknown.map(String));
  const named = Object.entries(columns).map(([name, field]) => [
    name,
    field === false ? false : fieldOf(field),
  ]);
  const types: Record<string, CellType> = {};
  for (const entry of (request.values.types ?? "").split(",").filter((part) => part.trim() !== "")) {
    const [, name = "", type = ""] = /^(.+)=(\w+)$/s.exec(entry.trim()) ?? [];
    if (!cellTypes.includes(type))
      throw new UsageError(
        `--types must be such as score=number,zip=text (${cellTypes.join(", ")}), got "${entry}"`,
      );
    // One of those in the list.
    types[name.replace(/^customFields\./, "")] = type as CellType;
  }
  return { columns: Object.fromEntries(named), types };
};

const fieldOf = (name: string): string =>
  contactFields.find((field) => foldedName(field) === foldedName(name)) ?? name;

const mostShown = 4;

/** The columns that an entry such as `First Name+Last Name` joins. */
const partsOf = (entry: string): readonly string[] => entry.split("+").map((part) => part.trim());

/** The columns of a file that neither are fields nor are mapped. */
const unmapped = (names: readonly string[], columns: ColumnNames): readonly string[] => {
  if (columns["*"] === false) return [];
  const mapped = new Set(
    Object.keys(columns).flatMap((entry) => (names.includes(entry) ? [entry] : partsOf(entry))),
  );
  return names.filter((name) => name !== "" && !mapped.has(name) && !isField(name));
};

/** The columns that are the same field, except the first of each, by the name that is read. */
const repeatedColumns = (names: readonly string[], columns: ColumnNames): readonly string[] => {
  const seen = new Map<string, string>();
  return names.filter((name) => {
    if (name in columns || !isField(name)) return false;
    const field = foldedName(name);
    const first = seen.get(field);
    seen.set(field, first ?? name);
    // Two of the very same name cannot be told apart.
    return first !== undefined && first !== name;
  });
};

/** The options that map the columns which are recognized, and leave out the others. */
const proposal = (names: readonly string[], { columns }: GivenMap): readonly string[] => {
  const salutation = salutationIn(names);
  const others = names.filter((name) => name !== salutation);
  const guessed = guessedMap(others);
  const parts = new Set([...guessed.keys()].filter((name) => !others.includes(name)).flatMap(partsOf));
  const fields = new Set(others.filter((name) => isField(name) && !parts.has(name)).map(fieldOf));
  const maps: (readonly [string, string | false])[] = [
    ...Object.entries(columns).filter(([name]) => name !== "*"),
    ...(salutation === undefined || salutation in columns ? [] : [[salutation, false] as const]),
    ...[...guessed].filter(([name, field]) => !(name in columns) && !fields.has(field)),
  ];
  return [...maps.map(([name, field]) => `${name}=${field === false ? "" : field}`), "*="];
};

const hasEmailIn = (names: readonly string[], columns: ColumnNames): boolean =>
  [...Object.values(columns), ...names.filter(isField).map(fieldOf)].includes("email");

const delimiters = [",", ";", "\t", "|"] as const;

/** The cells of a line, as far as a header needs them: without line ends in quotes. */
const cellsOf = (line: string, ownDelimiter: string | undefined): readonly string[] => {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const counts = delimiters.map((each) => bare.split(each).length);
  const delimiter = ownDelimiter ?? delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
  const cells: string[] = [];
  for (const part of line.split(delimiter)) {
    const open = cells.at(-1);
    // An odd number of quotes: the delimiter is inside a quoted cell.
    if (open !== undefined && open.split('"').length % 2 === 0)
      cells[cells.length - 1] = open + delimiter + part;
    else cells.push(part);
  }
  return cells.map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, "$1")
      .replaceAll('""', '"'),
  );
};

/** The line that has a column for the address, if others are above it. */
const headerBelow = (lines: readonly string[], delimiter: string | undefined) => {
  const headers = lines.map((line) => cellsOf(line, delimiter));
  const above = headers.findIndex((cells) => [...guessedMap(cells).values()].includes("email"));
  return above > 0 ? { above, header: headers[above] ?? [] } : undefined;
};

const [mostLines, mostLetters] = [6, 100];

/** Where a header comes from. */
interface HeaderSource {
  /** Reads the first lines of the file; none of standard input. */
  readonly firstLines?: () => readonly string[];
  readonly delimiter?: string | undefined;
  /** The other options of the command, as they are typed. */
  readonly options?: readonly string[];
}

/**
 * Refuses a file whose columns are no fields of a contact. The error ends with a command to copy, which maps the columns
 * that are recognized and leaves out the others.
 *
 * @throws UsageError naming the columns.
 */
export const checkHeader = (
  file: string,
  names: readonly string[],
  map: GivenMap,
  { firstLines = () => [], delimiter, options = [] }: HeaderSource = {},
): void => {
  const { columns } = map;
  const command = (header: readonly string[], ...more: readonly string[]): string => {
    const maps = proposal(header, map).flatMap((entry) => ["--map", entry]);
    return ["touchpoint contacts import", ...[file, ...options, ...more, ...maps].map(shellWord)].join(" ");
  };
  const [repeated] = repeatedColumns(names, columns);
  if (repeated !== undefined)
    throw new UsageError(
      `${file}: two columns are the field ${fieldOf(repeated)}; leave one of them out: --map ${JSON.stringify(`${repeated}=`)}`,
    );
  const unknown = unmapped(names, columns);
  const hasEmail = hasEmailIn(names, columns);
  if (unknown.length === 0 && hasEmail) return;
  const shown = unknown.slice(0, mostShown).map((name) => `"${name}"`);
  const more = unknown.length > mostShown ? ` and ${unknown.length - mostShown} more` : "";
  const what =
    unknown.length === 0
      ? `no column is the email address; the columns are ${names.map((name) => `"${name}"`).join(", ")}`
      : `${shown.join(", ")}${more} ${unknown.length === 1 ? "is not a field" : "are not fields"} of a contact`;
  if (hasEmail || [...guessedMap(names).values()].includes("email"))
    throw new UsageError(
      `${file}: ${what}. To map the columns that are recognized and leave out the others, run`,
      command(names),
    );
  const lines = firstLines();
  const below = headerBelow(lines, delimiter);
  if (below !== undefined)
    throw new UsageError(
      `${file}: ${what}. The header seems to be line ${below.above + 1} of the file, which begins as below. To skip the lines above it, run`,
      command(below.header, "--skip-lines", String(below.above)),
      { lines: lines.slice(0, mostLines).map((line) => line.slice(0, mostLetters)) },
    );
  if (names.some((name) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(name)))
    throw new UsageError(
      `${file}: the first row holds an address, so the file has no header. Write one as its first line, for example email,name`,
    );
  throw new UsageError(
    `${file}: ${what}. The first row that was read is: ${names.slice(0, 8).join(", ")}. ` +
      "If the header is further down, add --skip-lines <n>; otherwise map a column to email",
    `touchpoint contacts import ${shellWord(file)} --map "<column>=email" --map "*="`,
  );
};
