import { ConfigurationError } from "../errors.ts";
import { foldedName } from "../runtime/nearest-name.ts";
import { anything, must, mustBeOneOf, type Rules } from "../runtime/rules.ts";
import { reportSettled, withSettled } from "../runtime/source-line.ts";
import type { StandardSchema } from "../runtime/standard-schema.ts";
import { CellFault, isShortened, jsonIn, nullTexts, plainIn } from "./csv-cell.ts";
import { type ColumnNames, namesIn, trimmed } from "./csv-columns.ts";
import { knownOptions, type ReadOptions } from "./options.ts";
import { csvRecords, csvRules } from "./read-csv.ts";
import { findExtendedJson, ndjsonRecords } from "./read-ndjson.ts";
import { type FileSource, sourcePath } from "./source.ts";

/** A contact in a file, without the fields that the service sets. `contacts.import` checks it. */
export interface ContactRow<Fields = Record<string, unknown>> {
  email: string;
  name?: string;
  title?: string;
  phone?: string;
  linkedIn?: string;
  notes?: string;
  stage?: string;
  source?: string;
  verified?: boolean;
  emailConfidence?: number;
  leadId?: string;
  listIds?: string[];
  customFields?: Fields;
}

/** Options for reading contacts. */
export interface ReadContactsOptions<Fields = Record<string, unknown>> extends ReadOptions {
  /** The workspace's schema, as for the client: if a cell can be read in two ways, the schema decides. */
  readonly customFields?: StandardSchema<Fields> | undefined;
  /** The character between the cells of CSV. The default is the same as for `readCsv`. */
  readonly delimiter?: string | undefined;
  /** New names for the columns of CSV, as for `readCsv`. */
  readonly columns?: ColumnNames | undefined;
  /** The number of lines above the header to skip, as for `readCsv`. */
  readonly skipLines?: number | undefined;
  /** Called with the names of the columns, as for `readCsv`. */
  readonly onHeader?: ((names: readonly string[]) => void) | undefined;
  /**
   * The types of custom fields whose cells don't show their type: `{ score: "number", zip: "text" }`. For example,
   * other CRMs quote every cell, and a quoted cell is text by default.
   */
  readonly types?: Readonly<Record<string, CellType>> | undefined;
  /** The format of the source. Default: according to the ending of its name (.tsv and .txt are CSV; .json is NDJSON). */
  readonly format?: "csv" | "ndjson" | undefined;
}

/** How to read the cells of a custom field. Semicolons separate the items of a list. */
export type CellType = "text" | "number" | "boolean" | "list";

type Fields = Record<string, unknown>;

/** The fields of a contact in an export. */
const contactFields = [
  ...["id", "email", "name", "title", "phone", "linkedIn", "notes", "stage", "source", "verified"],
  ...["emailConfidence", "customFields", "leadId", "listIds", "externalId", "createdAt", "updatedAt"],
];

/** The fields that the service sets. An export has columns for them, but an import cannot write them. */
const setByService: ReadonlySet<string> = new Set(["id", "externalId", "createdAt", "updatedAt"]);

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** The other way to read a cell of a custom field: as text instead of a number, boolean or list, and the reverse. */
const alternative = (value: unknown): unknown => {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.join(";");
  if (typeof value !== "string") return value;
  return jsonIn(value, "customFields") ?? plainIn(value);
};

const isBoolean = (cell: string): boolean => /^(true|false)$/i.test(cell);

/** @throws CellFault for a cell that is not of the type. */
const typedCell = (cell: string, type: CellType, name: string): unknown => {
  if (type === "text") return cell;
  if (type === "list") return cell.split(";").map((item) => item.trim());
  if (type === "number" && cell.trim() !== "" && Number.isFinite(Number(cell))) {
    if (Number.isInteger(Number(cell)) && !Number.isSafeInteger(Number(cell)))
      throw new CellFault(`${name}: ${cell} is too large for a JSON number; read it as text`);
    return Number(cell);
  }
  if (type === "boolean" && isBoolean(cell)) return cell.toLowerCase() === "true";
  throw new CellFault(`${name}: must be a ${type}, got ${JSON.stringify(cell)}`);
};

const cellOf = (
  text: string,
  { name, isQuoted }: { readonly name: string; readonly isQuoted: boolean },
  types: Readonly<Record<string, CellType>>,
): unknown => {
  if (setByService.has(name)) return undefined;
  const cell = isQuoted ? text : trimmed(text);
  if (cell === "") return undefined;
  const key = name.replace(/^customFields\./, "");
  const type = Object.hasOwn(types, key) ? types[key] : undefined;
  if (type !== undefined) return typedCell(cell, type, name);
  if (name === "verified" && isBoolean(cell)) return cell.toLowerCase() === "true";
  if (name === "emailConfidence" && Number.isFinite(Number(cell))) return Number(cell);
  if (!isQuoted && isShortened(cell)) {
    const fix = "format the column as text or as a number without decimals, and export the file again";
    throw new CellFault(`${name}: a spreadsheet has shortened this number to ${cell}; ${fix}`);
  }
  if (name === "listIds") return cell.split(";");
  if (name === "customFields") return jsonIn(cell.trim(), name) ?? cell;
  if (!name.startsWith("customFields.")) return cell;
  // A quoted cell is text, unless it is JSON, which always needs quotes in CSV. The writer encodes a text that looks
  // like JSON as a JSON string.
  return jsonIn(cell, name) ?? (isQuoted ? cell : plainIn(cell));
};

const cellTypes = ["text", "number", "boolean", "list"];

// The reader of contacts casts each cell itself, and leaves out empty ones.
const { cast: _cast, emptyCells: _emptyCells, ...readerRules } = csvRules;

const contactRules: Rules = {
  ...readerRules,
  customFields: anything,
  format: mustBeOneOf("csv", "ndjson"),
  types: must(
    `an object of types by field name: ${cellTypes.join(", ")}`,
    (value) => isObject(value) && Object.values(value).every((type) => cellTypes.includes(String(type))),
  ),
};

/** The names of the custom fields that the schema refuses. */
const faultyIn = async (fields: Fields, schema: StandardSchema): Promise<ReadonlySet<string>> => {
  const { issues = [] } = await schema["~standard"].validate(fields);
  const keys = issues.map(({ path }) => path?.[0]);
  return new Set(keys.map((key) => String(isObject(key) ? key.key : key)));
};

/** Replaces each field that the schema refuses with its alternative, if the schema accepts the alternative. */
const fitted = async (fields: Fields, schema: StandardSchema): Promise<Fields> => {
  const faulty = await faultyIn(fields, schema);
  if (faulty.size === 0) return fields;
  const converted = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, faulty.has(key) ? alternative(value) : value]),
  );
  const stillFaulty = await faultyIn(converted, schema);
  return Object.fromEntries(
    Object.entries(converted).map(([key, value]) => [key, stillFaulty.has(key) ? fields[key] : value]),
  );
};

async function* contacts(records: AsyncIterable<Fields>, schema: StandardSchema | undefined, isCsv: boolean) {
  for await (const record of records) {
    const { customFields } = record;
    // A service or database may write null for a missing field. Leave out the field, like an empty CSV cell, because the
    // import refuses null, and would clear a custom field.
    for (const fields of [record, customFields])
      if (isObject(fields))
        for (const [name, value] of Object.entries(fields)) if (value === null) delete fields[name];
    for (const name of setByService) delete record[name];
    // NDJSON already has types.
    if (isCsv && schema !== undefined && isObject(customFields))
      record.customFields = await fitted(customFields, schema);
    yield record;
  }
}

const isCsvName = (source: FileSource, { format, name }: ReadContactsOptions<unknown>): boolean => {
  if (format !== undefined) return format === "csv";
  const [, ending] = /\.(csv|tsv|txt|ndjson|jsonl?)(\.gz)?$/i.exec(sourcePath(source) ?? name ?? "") ?? [];
  if (ending !== undefined) return !/json/i.test(ending);
  throw new ConfigurationError(
    'readContacts: the file name must end in .csv, .tsv, .txt or .ndjson, optionally followed by .gz; or set format: "csv"',
  );
};

/** The field that a column means in any spelling: `EMAIL`, `linked_in`. Other names stay unchanged. */
const fieldNamed = (column: string): string => {
  const custom = /^custom[_ -]?fields\.(.+)$/is.exec(column)?.[1];
  if (custom !== undefined) return `customFields.${custom}`;
  return contactFields.find((field) => foldedName(field) === foldedName(column)) ?? column;
};

/**
 * The columns whose names mean a contact field, with that field. Includes columns that already have the name of their
 * field, because `"*": false` leaves out every column without an entry.
 */
const recognizedColumns = (names: readonly string[], columns: ColumnNames): Record<string, string> => {
  const mapped = new Set(Object.keys(columns).flatMap((entry) => namesIn(entry, names)));
  const filled = new Set(Object.values(columns));
  const fields: Record<string, string> = {};
  for (const name of names) {
    const field = fieldNamed(name);
    const isField = contactFields.includes(field) || field.startsWith("customFields.");
    if (isField && !mapped.has(name) && !(columns["*"] === false && filled.has(field))) fields[name] = field;
  }
  return fields;
};

/**
 * Reads contacts, with their types, from CSV or NDJSON. Pass them to `contacts.import`. A file that `writeCsv` or
 * `writeNdjson` wrote changes nothing when you read and import it again.
 *
 * In CSV, `verified`, `emailConfidence` and `listIds` get their types back. A custom field that looks like a number, a
 * boolean or a list joined by `;` becomes one, unless the cell is quoted; `writeCsv` quotes such strings. For a file of
 * another program, set the names of its `columns`, and the schema of your `customFields`. `id`, `externalId` and the
 * times are left out, because the service sets them. Fields and custom fields that are empty or null are left out, too.
 * To clear a custom field, pass an object with null to `contacts.import`.
 *
 * @throws as `readCsv` and `readNdjson` do. A line of NDJSON with a type of MongoDB, such as `{ "$oid": "…" }`, is a bad
 * line. Throws ConfigurationError for a name without a known ending.
 * @example
 * ```ts
 * import { readContacts } from "touchpoint-sdk/files";
 *
 * await client.contacts.import(readContacts("contacts.csv"));
 * ```
 */
export const readContacts = <Custom = Record<string, unknown>>(
  source: FileSource,
  options?: ReadContactsOptions<Custom>,
): AsyncGenerator<ContactRow<Custom>> => {
  const settings = knownOptions<ReadContactsOptions<Custom>>("readContacts", options, contactRules);
  const { customFields, format: _format, types = {}, ...csvOptions } = settings;
  const { delimiter: _, columns = {}, skipLines: __, onHeader, ...ndjsonOptions } = csvOptions;
  const isCsv = isCsvName(source, settings);
  /** The field of each column, keyed by column name. It has no prototype, because a column may be named `constructor`. */
  const fieldNames: Record<string, string | false> = Object.create(null);
  const records = isCsv
    ? csvRecords(source, {
        ...csvOptions,
        nulls: nullTexts,
        address: "email",
        columns: fieldNames,
        onHeader: (names) => {
          onHeader?.(names);
          Object.assign(fieldNames, recognizedColumns(names, columns), columns);
        },
        cast: (cell, { column, isQuoted }) =>
          cellOf(cell, { name: fieldNames[column] || column, isQuoted }, types),
      })
    : ndjsonRecords(source, ndjsonOptions, findExtendedJson);
  // Only the import checks the records, so their type is a claim of the caller here.
  const rows = contacts(records, customFields, isCsv) as AsyncGenerator<ContactRow<Custom>>;
  return withSettled(rows, (count) => reportSettled(records, count));
};
