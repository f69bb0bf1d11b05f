import { isSet, listOf, type Request, textOf, UsageError } from "./cli-command.ts";
import { isContactField, meantBy } from "./contact-columns.ts";
import { contactFields } from "./contact-fields.ts";
import { delimiterOf, type RecordFile, recordFile } from "./record-file.ts";

/** What an export is asked for. */
export interface ExportSettings {
  readonly out: string;
  readonly file: RecordFile;
  readonly search: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly delimiter: string | undefined;
  readonly isResumed: boolean;
}

/** Refused as in an import: a column of a field that does not exist would be empty in every row. */
const checkColumns = (columns: readonly string[]): void => {
  const unknown = columns.filter((column) => !isContactField(column));
  if (unknown.length === 0) return;
  const faults = unknown.map((column) => {
    const meant = meantBy(column);
    return `"${column}" is no field of a contact${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
  });
  const fields = contactFields.join(", ");
  throw new UsageError(
    `--columns: ${faults.join("; ")} The fields are ${fields}; a custom one is customFields.<its name>`,
  );
};

/**
 * Reads the options of `contacts export`.
 *
 * @throws UsageError for what does not go together.
 */
export const exportSettings = (request: Pick<Request, "values">): ExportSettings => {
  const out = textOf(request, "out");
  if (out === undefined) throw new UsageError("--out <path> is missing");
  const file = recordFile(out, request);
  const columns = listOf(request, "columns");
  const isResumed = isSet(request, "resume");
  if (columns?.length === 0) throw new UsageError("--columns must name at least one column");
  if (columns !== undefined && file.format !== "csv") throw new UsageError("--columns is for CSV");
  checkColumns(columns ?? []);
  if (isResumed && out === "-") throw new UsageError("standard output cannot be resumed");
  if (isResumed && file.isCompressed)
    throw new UsageError("a compressed file cannot be resumed: export it plain and compress it afterwards");
  // The custom fields together as JSON: a column that only appears after thousands of contacts cannot be added to
  // a file that is half written.
  const defaults = file.format === "csv" ? contactFields : undefined;
  const delimiter = delimiterOf(request, file);
  return { out, file, search: textOf(request, "search"), columns: columns ?? defaults, delimiter, isResumed };
};
