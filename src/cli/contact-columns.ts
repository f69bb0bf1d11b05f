import { stat } from "node:fs/promises";
import { type ColumnNames, readCsv } from "../files/index.ts";
import { Contact, type Schema } from "../index.ts";
import { nearestTo } from "../runtime/nearest-name.ts";
import { UsageError } from "./command.ts";

/** The documented fields of a record, in the order of the document. */
export const fieldsOf = (schema: Schema): readonly string[] => Object.keys(Reflect.get(schema, "shape"));

/** The documented fields of a contact, in the order of an export. */
export const contactFields = fieldsOf(Contact);

/** The column names of a file; none if it has no record, because then nothing is sent. */
const namesIn = async (file: string, delimiter: string | undefined): Promise<readonly string[]> => {
  if (file === "-") return [];
  const found = await stat(file).catch(() => undefined);
  // A pipe can be read only once.
  if (found !== undefined && !found.isFile()) return [];
  const names = new Set<string>();
  const records = readCsv(file, {
    delimiter,
    // Otherwise cast is not called for empty cells.
    emptyCells: "string",
    cast: (_, { column }) => void names.add(column),
    // Reported when the file is read again for the import.
    onInvalid: () => {},
  });
  await records.next();
  await records.return(undefined);
  return [...names];
};

/** The field whose name is nearest to that of a column; undefined if none is near. */
const nearestField = (column: string): string | undefined => {
  const [name = "", ...inside] = column.split(".");
  const near = nearestTo(name, contactFields);
  return near === "customFields" ? [near, ...inside].join(".") : near;
};

/**
 * Refuses columns that are no documented field of a contact: an export has no value for them, and in an import they may be
 * misspelt.
 *
 * @param where - the file or the option that names them.
 * @param mend - the end of the message: what to do.
 * @throws UsageError naming every such column.
 */
export const checkColumns = (where: string, columns: readonly string[], mend = ""): void => {
  const unknown = columns.filter(
    (column) => !contactFields.includes(column) && !column.startsWith("customFields."),
  );
  if (unknown.length === 0) return;
  const faults = unknown.map((column) => {
    const near = nearestField(column);
    return `"${column}" is no field of a contact${near === undefined ? "" : ` (did you mean "${near}"?)`}.`;
  });
  const fields = contactFields.join(", ");
  throw new UsageError(
    `${where}: ${faults.join(" ")} The fields are ${fields}; a custom one is customFields.<its name>${mend}`,
  );
};

/** Checks the columns of a CSV file of contacts. Returns their names without blanks around them. */
export const columnsOf = async (file: string, delimiter: string | undefined): Promise<ColumnNames> => {
  const names = (await namesIn(file, delimiter)).map((name) => [name, name.trim()] as const);
  // A spreadsheet may add columns without a name at the end; the reader leaves them out.
  checkColumns(
    file,
    names.flatMap(([, name]) => (name === "" ? [] : [name])),
    ". Rename such a column in the first line of the file",
  );
  return Object.fromEntries(names.filter(([given, name]) => given !== name));
};
