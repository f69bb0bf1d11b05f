import { stat } from "node:fs/promises";
import { type ColumnNames, readCsv } from "../files/index.ts";
import { Contact, type Schema } from "../index.ts";
import { foldedName, nearestTo } from "../runtime/nearest-name.ts";
import { type Request, UsageError } from "./command.ts";
import { visible } from "./terminal.ts";

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

const folded = (name: string): string => foldedName(name.replaceAll(/\s/g, ""));

/** Whether a column is a documented field of a contact, or a custom field. */
export const isContactField = (column: string): boolean =>
  contactFields.includes(column) || column.startsWith("customFields.");

/** The field whose name is nearest to that of a column; undefined if none is near. */
export const nearestField = (column: string): string | undefined => {
  const [name = "", ...inside] = column.split(".");
  const near = nearestTo(name, contactFields);
  return near === "customFields" ? [near, ...inside].join(".") : near;
};

const quoted = (columns: readonly string[]): string =>
  columns.map((column) => JSON.stringify(column)).join(", ");

const customHint = "a custom field is named customFields.<its name>";

/**
 * Checks the columns of a CSV file of contacts, and lists those that are not a documented field.
 *
 * @returns a mapping for names with blanks around them to the trimmed names.
 * @throws UsageError for a column whose name is nearly a field's, if that field has no column.
 */
export const contactColumns = async (
  request: Pick<Request, "stderr">,
  file: string,
  delimiter?: string,
): Promise<ColumnNames> => {
  const names = await namesIn(file, delimiter);
  const columns = names.map((name) => name.trim()).filter((name) => name !== "");
  const unknown = columns.filter((column) => !isContactField(column));
  const faults = unknown.flatMap((column) => {
    const meant = nearestField(column);
    return meant === undefined || folded(meant) !== folded(column) || columns.includes(meant)
      ? []
      : [`the column "${column}" is no field of a contact: rename it to "${meant}" if that is meant`];
  });
  if (faults.length > 0) throw new UsageError(`${file}: ${faults.join("; ")}; ${customHint}`);
  if (unknown.length > 0) {
    const which = `${unknown.length === 1 ? "column" : "columns"} ${quoted(unknown)}`;
    request.stderr.write(
      `${visible(`${file}: sent as named, though no documented field of a contact: ${which}`)}; ${customHint}\n`,
    );
  }
  return Object.fromEntries(
    names.filter((name) => name !== name.trim()).map((name) => [name, name.trim()] as const),
  );
};
