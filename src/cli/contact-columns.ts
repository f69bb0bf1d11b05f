import { readFileSync } from "node:fs";
import type { CellType, ColumnNames } from "../files/index.ts";
import { Contact, type Schema } from "../index.ts";
import { foldedName, nearestTo } from "../runtime/nearest-name.ts";
import { isRecord, isString, messageOf } from "../runtime/values.ts";
import { type Request, UsageError } from "./command.ts";
import { guessedMap, salutationIn } from "./guessed-columns.ts";
import { shellWord } from "./terminal.ts";

/** The documented fields of a record, in the order of its schema. */
export const fieldsOf = (schema: Schema): readonly string[] => Object.keys(Reflect.get(schema, "shape"));

/** The documented fields of a contact, in the order of an export. */
export const contactFields = fieldsOf(Contact);

const isField = (name: string): boolean =>
  /^customFields\../i.test(name) || contactFields.some((field) => foldedName(field) === foldedName(name));

/** The field whose name is most similar to a column's name; undefined if no name is similar. */
const nearestField = (column: string): string | undefined => {
  const [name = "", ...inside] = column.split(".");
  const near = nearestTo(name, contactFields);
  return near === "customFields" ? [near, ...inside].join(".") : near;
};

/**
 * Refuses names that are not documented fields of a contact.
 *
 * @param where - the option that contains the names: `--columns` of an export, or `--map` of an import.
 * @throws UsageError naming every refused name.
 */
export const checkFields = (where: string, names: readonly string[]): void => {
  const unknown = names.filter((name) => !contactFields.includes(name) && !name.startsWith("customFields."));
  if (unknown.length === 0) return;
  const faults = unknown.map((name) => {
    const near = nearestField(name);
    return `"${name}" is not a field of a contact${near === undefined ? "" : ` (did you mean "${near}"?)`}.`;
  });
  const fields = contactFields.join(", ");
  throw new UsageError(
    `${where}: ${faults.join(" ")} The fields are ${fields}. For a custom field, use customFields.<its name>`,
  );
};

/** The column names and types that the options `--map` and `--types` set. */
export interface TypedMap {
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
 * @throws UsageError for an entry with invalid syntax, or a field that does not exist.
 */
export const readMap = (request: Pick<Request, "values" | "lists">): TypedMap => {
  const columns: Record<string, string | false> = {};
  for (const entry of request.lists.map ?? []) {
    if (entry.startsWith("@")) {
      Object.assign(columns, fromFile(entry.slice(1)));
      continue;
    }
    // A column name can contain an equals sign. A field name can't.
    const equals = entry.lastIndexOf("=");
    if (equals <= 0)
      throw new UsageError(
        `--map must be "File column=field", or "File column=" to leave out the column, got "${entry}"`,
      );
    columns[entry.slice(0, equals).trim()] = entry.slice(equals + 1).trim() || false;
  }
  const unknown = Object.values(columns).filter((field) => field !== false && !isField(field));
  if (unknown.length > 0) checkFields("--map", unknown.map(String));
  const named = Object.entries(columns).map(([name, field]) => [
    name,
    field === false ? false : fieldOf(field),
  ]);
  const types: Record<string, CellType> = {};
  for (const entry of (request.values.types ?? "").split(",").filter((part) => part.trim() !== "")) {
    const [, name = "", type = ""] = /^(.+)=(\w+)$/s.exec(entry.trim()) ?? [];
    if (!cellTypes.includes(type))
      throw new UsageError(
        `--types must be like score=number,zip=text (types: ${cellTypes.join(", ")}), got "${entry}"`,
      );
    // The check above ensures that `type` is a CellType.
    types[name.replace(/^customFields\./, "")] = type as CellType;
  }
  return { columns: Object.fromEntries(named), types };
};

const fieldOf = (name: string): string =>
  contactFields.find((field) => foldedName(field) === foldedName(name)) ?? name;

const maxShown = 4;

/** The columns that an entry such as `First Name+Last Name` joins. */
const partsOf = (entry: string): readonly string[] => entry.split("+").map((part) => part.trim());

/** The columns of a file that are neither mapped nor fields of a contact. */
const unmapped = (names: readonly string[], columns: ColumnNames): readonly string[] => {
  if (columns["*"] === false) return [];
  const mapped = new Set(
    Object.keys(columns).flatMap((entry) => (names.includes(entry) ? [entry] : partsOf(entry))),
  );
  return names.filter((name) => name !== "" && !mapped.has(name) && !isField(name));
};

/** The columns whose name means the same field as an earlier column. */
const repeatedColumns = (names: readonly string[], columns: ColumnNames): readonly string[] => {
  const seen = new Map<string, string>();
  return names.filter((name) => {
    if (name in columns || !isField(name)) return false;
    const field = foldedName(name);
    const first = seen.get(field);
    seen.set(field, first ?? name);
    // Two columns with exactly the same name can't be distinguished here.
    return first !== undefined && first !== name;
  });
};

/** The values of `--map` that map the recognized columns and leave out all other columns. */
const proposal = (names: readonly string[], { columns }: TypedMap): readonly string[] => {
  const salutation = salutationIn(names);
  const candidates = names.filter((name) => name !== salutation);
  const guessed = guessedMap(candidates);
  const parts = new Set([...guessed.keys()].filter((name) => !candidates.includes(name)).flatMap(partsOf));
  const fields = new Set(candidates.filter((name) => isField(name) && !parts.has(name)).map(fieldOf));
  const maps: (readonly [string, string | false])[] = [
    ...Object.entries(columns).filter(([name]) => name !== "*"),
    ...(salutation === undefined || salutation in columns ? [] : [[salutation, false] as const]),
    ...[...guessed].filter(([name, field]) => !(name in columns) && !fields.has(field)),
  ];
  return [...maps.map(([name, field]) => `${name}=${field === false ? "" : field}`), "*="];
};

const hasEmailColumn = (names: readonly string[]): boolean =>
  [...guessedMap(names).values()].includes("email");

const hasEmailIn = (names: readonly string[], columns: ColumnNames): boolean =>
  [...Object.values(columns), ...names.filter(isField).map(fieldOf)].includes("email");

const delimiters = [",", ";", "\t", "|"] as const;

/**
 * Finds a header that is not on line 1 of the file. The first line with a column for the email address counts as the
 * header. Delimiters inside quotes are not supported: no such name is recognized.
 */
const headerBelow = (lines: readonly string[], ownDelimiter: string | undefined) => {
  const candidates = ownDelimiter === undefined ? delimiters : [ownDelimiter];
  for (const [linesAbove, line] of lines.entries())
    for (const delimiter of candidates) {
      const header = line.split(delimiter).map((cell) => cell.trim().replaceAll(/^"|"$/g, ""));
      if (hasEmailColumn(header)) return linesAbove > 0 ? { linesAbove, header } : undefined;
    }
  return undefined;
};

const [maxLines, maxLetters] = [6, 100];

/** The origin of a header, for error messages. */
interface HeaderSource {
  /** Reads the first lines of the file; returns no lines for standard input. */
  readonly firstLines?: () => readonly string[];
  readonly delimiter?: string | undefined;
  /** The other options of the command, as the user typed them. */
  readonly options?: readonly string[];
}

/**
 * Refuses a file with two columns for the same field, with a column that is not a field of a contact, or without a
 * column that is named `email` or mapped to it.
 *
 * Most errors end with a corrected command. If the email column is recognized, here or in a header further down, the
 * user can run the command as it is: it maps the recognized columns and leaves out all others. If not, the user has to
 * fill in the email column. Two columns for the same field, and a file without a header, get advice but no command.
 *
 * @throws UsageError saying what is wrong with the columns.
 */
export const checkHeader = (
  file: string,
  names: readonly string[],
  map: TypedMap,
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
      `${file}: two columns mean the field ${fieldOf(repeated)}. Leave one of them out: --map ${JSON.stringify(`${repeated}=`)}`,
    );
  const unknown = unmapped(names, columns);
  const hasEmail = hasEmailIn(names, columns);
  if (unknown.length === 0 && hasEmail) return;
  const shown = unknown.slice(0, maxShown).map((name) => `"${name}"`);
  const more = unknown.length > maxShown ? ` and ${unknown.length - maxShown} more` : "";
  const what =
    unknown.length === 0
      ? `no column contains the email address. The columns are ${names.map((name) => `"${name}"`).join(", ")}`
      : `${shown.join(", ")}${more} ${unknown.length === 1 ? "is not a field" : "are not fields"} of a contact`;
  if (hasEmail || hasEmailColumn(names))
    throw new UsageError(
      `${file}: ${what}. To map the columns that are recognized and leave out the others, run`,
      command(names),
    );
  const lines = firstLines();
  const below = headerBelow(lines, delimiter);
  if (below !== undefined)
    throw new UsageError(
      `${file}: ${what}. The header seems to be line ${below.linesAbove + 1} of the file (see the lines below). To skip the lines above it, run`,
      command(below.header, "--skip-lines", String(below.linesAbove)),
      { lines: lines.slice(0, maxLines).map((line) => line.slice(0, maxLetters)) },
    );
  if (names.some((name) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(name)))
    throw new UsageError(
      `${file}: the first row contains an email address, so the file has no header. Add a header as its first line, for example email,name`,
    );
  const other = delimiters.find((each) => names.some((name) => name.split(each).length > names.length));
  const split =
    other === undefined
      ? ""
      : `If ${JSON.stringify(other)} separates the columns, add --delimiter ${shellWord(other)}. `;
  throw new UsageError(
    `${file}: ${what}. The first row that was read is: ${names.slice(0, 8).join(", ")}. ${split}` +
      "If the header is further down, add --skip-lines <n>. Otherwise, map a column to email",
    `touchpoint contacts import ${shellWord(file)} --map "<column>=email" --map "*="`,
  );
};
