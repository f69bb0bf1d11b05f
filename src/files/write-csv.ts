import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { destinationOf, explained, removeOldDrafts } from "../runtime/atomic-file.ts";
import { mustBeBoolean, type Rules } from "../runtime/rules.ts";
import { columnsFrom, mustBeColumns, type WriteColumns } from "./csv-columns.ts";
import { csvForm, spooledTable, tableOfFile } from "./csv-table.ts";
import { exportList, exportTarget } from "./export-list.ts";
import { knownOptions, mustBeDelimiter, type WriteOptions, type Written, writeRules } from "./options.ts";
import { pathOf } from "./source.ts";
import { ndjsonForm } from "./write-ndjson.ts";
import { assertRecords, blocksOf, type FileTarget, writeBlocks } from "./write-records.ts";

/** Options for writing CSV. */
export interface WriteCsvOptions extends WriteOptions {
  /** The character between cells. Default: a comma. */
  readonly delimiter?: string | undefined;
  /**
   * The columns in their order, as paths (`["email", "customFields.plan"]`) or paths and names (`{ email: "E-mail" }`).
   * Other fields are left out; a column without values is empty. Default: every field. All records are then written
   * first to a temporary file: `<path>.<8 characters>.rows.tmp`, with `checkpoint` `<path>.records.partial`, or for a
   * stream a file in the system's folder for temporary files.
   */
  readonly columns?: WriteColumns | undefined;
  /**
   * Whether text that a spreadsheet may run as a formula gets an apostrophe before it; default true. `readCsv` removes
   * the apostrophe. Numbers stay unchanged. A phone number such as `+44 20 7946 0000` is text and gets an apostrophe;
   * set this to false for programs that do not remove the apostrophe.
   */
  readonly escapeFormulas?: boolean | undefined;
  /** Whether to start with a byte order mark, so that Excel recognizes UTF-8; default false. */
  readonly byteOrderMark?: boolean | undefined;
}

const rules: Rules = {
  ...writeRules,
  delimiter: mustBeDelimiter,
  columns: mustBeColumns,
  escapeFormulas: mustBeBoolean,
  byteOrderMark: mustBeBoolean,
};

/**
 * The path of the file in which records wait for the columns. For a stream, the file is in the temporary folder.
 */
const spoolPathOf = (target: FileTarget): string =>
  `${pathOf(target) ?? join(tmpdir(), "touchpoint")}.${randomUUID().slice(0, 8)}.rows.tmp`;

/**
 * Writes CSV with a header row from any (async) iterable, with constant memory, as fast as the target accepts it.
 *
 * Fields of plain objects become columns with dotted names (`customFields.plan`). A Date is written as ISO 8601, null
 * and missing values as an empty cell, an array of scalars joined by `;`, any other array or object as JSON. Without
 * the option `columns`, every field of every record becomes a column. Lines end with `\n`. Without records, the file
 * has only the header of `columns`.
 *
 * The file appears under its name when it is complete: it is written to a `.tmp` file, synced and renamed. A stream is
 * not ended.
 *
 * @returns the number of written records and bytes.
 * @throws ValidationError for a record that cannot be written; it names the number of the record, from 1. Also for
 * records that cannot be iterated, such as a page.
 * @throws ConfigurationError for an unknown option, for repeated columns, and when a file cannot be written. A stream
 * or a source that fails rejects with its own error. In each case an existing file is unchanged.
 * @example
 * ```ts
 * import { writeCsv } from "touchpoint-sdk/files";
 *
 * await writeCsv("contacts.csv", client.contacts.list(), { columns: ["email", "name", "customFields.plan"] });
 * ```
 */
export const writeCsv = async (
  target: FileTarget,
  records: Iterable<object> | AsyncIterable<object>,
  options?: WriteCsvOptions,
): Promise<Written> => {
  const checked = knownOptions<WriteCsvOptions>("writeCsv", options, rules);
  assertRecords(records);
  const { columns, delimiter = ",", escapeFormulas = true, byteOrderMark = false } = checked;
  const style = { delimiter, escapeFormulas, byteOrderMark };
  const form = columns && csvForm(columnsFrom(columns), style);
  const exported = exportTarget(target, records, checked);
  if (exported === undefined) {
    const blocks = form ? blocksOf(records, form) : spooledTable(records, spoolPathOf(target), style);
    return writeBlocks(target, blocks, checked);
  }
  const settings = { columns: columns ?? null, ...style };
  if (form) return exportList(exported, settings, form, checked);
  // The columns are known only after the last record. Until then, the records wait in an NDJSON file that no other user
  // may read.
  const path = `${await destinationOf(exported.path)}.records`;
  let table: Written | undefined;
  const finish = async (draft: string): Promise<void> => {
    await removeOldDrafts(exported.path);
    table = await writeBlocks(exported.path, tableOfFile(draft, style), {});
  };
  const written = await exportList({ ...exported, path, mode: 0o600, finish }, settings, ndjsonForm, checked);
  // `table` is undefined if an earlier run wrote the file, and was killed before it deleted the checkpoint.
  const bytes = table?.bytes ?? (await explained(exported.path, () => stat(exported.path))).size;
  return { ...written, bytes };
};
