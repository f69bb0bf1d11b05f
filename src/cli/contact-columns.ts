import { stat } from "node:fs/promises";
import { type ColumnNames, readCsv } from "../files/index.ts";
import { type Request, UsageError } from "./command.ts";

/** The documented fields of a contact, as an export writes them. */
export const contactFields: readonly string[] = [
  "id",
  "email",
  "name",
  "title",
  "phone",
  "linkedIn",
  "notes",
  "stage",
  "source",
  "verified",
  "emailConfidence",
  "customFields",
  "leadId",
  "listIds",
  "externalId",
  "createdAt",
  "updatedAt",
];

/** The names in the header of a file; none where no record follows, as nothing is sent then. */
const namesIn = async (file: string, delimiter: string | undefined): Promise<readonly string[]> => {
  if (file === "-") return [];
  const found = await stat(file).catch(() => undefined);
  // A pipe can be read only once.
  if (found !== undefined && !found.isFile()) return [];
  const names = new Set<string>();
  const records = readCsv(file, {
    delimiter,
    // Otherwise cast would not see the columns of empty cells.
    emptyCells: "string",
    cast: (_, { column }) => void names.add(column),
    // Told when the file is read for good.
    onInvalid: () => {},
  });
  await records.next();
  await records.return(undefined);
  return [...names];
};

/** A name without what people write in different ways. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s]/g, "");

const byFolded = new Map(contactFields.map((field) => [folded(field), field]));

/** The column that is probably meant by one whose field does not exist. */
export const meantBy = (column: string): string | undefined => {
  const [field = "", ...inside] = column.split(".");
  const meant = byFolded.get(folded(field));
  return meant === undefined ? undefined : [meant, ...inside].join(".");
};

/** Whether a column is a documented field of a contact, or lies in one. */
export const isContactField = (column: string): boolean => contactFields.includes(column.split(".")[0] ?? "");

const quoted = (columns: readonly string[]): string =>
  columns.map((column) => JSON.stringify(column)).join(", ");

const customHint = "a custom field is named customFields.<its name>";

/**
 * Looks at the columns of a CSV file of contacts, and tells those that are no field of one.
 *
 * @returns the names of columns that have blanks around them, without these.
 * @throws UsageError for a column that is nearly the name of a field, where that has no column.
 */
export const contactColumns = async (
  request: Request,
  file: string,
  delimiter?: string,
): Promise<ColumnNames> => {
  const names = await namesIn(file, delimiter);
  const columns = names.map((name) => name.trim()).filter((name) => name !== "");
  const unknown = columns.filter((column) => !isContactField(column));
  const faults = unknown.flatMap((column) => {
    const meant = meantBy(column);
    return meant === undefined || columns.includes(meant)
      ? []
      : [`the column "${column}" is no field of a contact: rename it to "${meant}" if that is meant`];
  });
  if (faults.length > 0) throw new UsageError(`${file}: ${faults.join("; ")}; ${customHint}`);
  if (unknown.length > 0) {
    const which = `${unknown.length === 1 ? "column" : "columns"} ${quoted(unknown)}`;
    request.stderr.write(
      `${file}: sent as named, though no documented field of a contact: ${which}; ${customHint}\n`,
    );
  }
  return Object.fromEntries(
    names.filter((name) => name !== name.trim()).map((name) => [name, name.trim()] as const),
  );
};
