import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { destinationOf } from "../runtime/atomic-file.ts";
import { anything, isFlag, type Rules } from "../runtime/rules.ts";
import { columnsFrom } from "./csv-columns.ts";
import { csvForm, tableBlocks, type WriteCsvOptions } from "./csv-table.ts";
import { isDelimiter, knownOptions, type Written, writeRules } from "./options.ts";
import { readNdjson } from "./read-ndjson.ts";
import { resumableTarget, writeResumable } from "./resumable.ts";
import { pathOf } from "./source.ts";
import type { FileTarget } from "./target.ts";
import { ndjsonForm } from "./write-ndjson.ts";
import { assertRecords, blocksOf, type FileForm, writeBlocks } from "./write-records.ts";

const rules: Rules = {
  ...writeRules,
  delimiter: isDelimiter,
  // Its own check says more.
  columns: anything,
  escapeFormulas: isFlag,
  byteOrderMark: isFlag,
};

/** Where records wait for the columns of a file that is written as a whole; a stream has no such place. */
const spoolPathOf = (target: FileTarget): string | undefined => {
  const path = pathOf(target);
  return path === undefined ? undefined : `${path}.${randomUUID().slice(0, 8)}.rows.tmp`;
};

const givenForm = (options: WriteCsvOptions & { readonly delimiter: string }): FileForm | undefined => {
  const { columns } = options;
  return columns === undefined ? undefined : csvForm(columnsFrom(columns), true, options);
};

/** Without columns, which only the last record completes, the records wait as NDJSON. */
const writeResumableCsv = async (
  resumable: NonNullable<ReturnType<typeof resumableTarget>>,
  form: FileForm | undefined,
  { checkpoint: _done, ...options }: WriteCsvOptions & { readonly delimiter: string },
): Promise<Written> => {
  const { columns, delimiter, escapeFormulas = true, byteOrderMark = false } = options;
  const settings = { columns: columns ?? null, delimiter, escapeFormulas, byteOrderMark };
  if (form !== undefined) return writeResumable(resumable, settings, form, options);
  const path = `${await destinationOf(resumable.path)}.records`;
  const { records, resumed = 0 } = await writeResumable(
    { ...resumable, path },
    settings,
    ndjsonForm,
    options,
  );
  const waiting = readNdjson(path, { maxLineBytes: Number.MAX_SAFE_INTEGER });
  const { bytes } = await writeCsv(resumable.path, waiting, { ...options, onWritten: undefined });
  await rm(path, { force: true });
  return { records, bytes, resumed };
};

/**
 * Writes CSV with a header row from any (async) iterable, with constant memory, as fast as the target accepts it.
 *
 * Fields of plain objects become columns with dotted names (`customFields.plan`). A Date is written as ISO 8601, null and
 * missing values as an empty cell, an array of scalars joined by `;`, any other array or object as JSON. Without the
 * option `columns`, every field of every record becomes a column. Lines end with `\n`. Without records, the file has only
 * the header of `columns`.
 *
 * The file appears under its name when it is complete: it is written to a `.tmp` file, synced and renamed. A stream is not
 * ended.
 *
 * @returns the number of records and bytes that this call wrote.
 * @throws ValidationError for a record that cannot be written, or that has a field without a column; it names the number
 * of the record, from 1. Also for records that cannot be iterated, such as a page.
 * @throws ConfigurationError for an unknown option, for repeated columns, and when a file cannot be written. A stream or a
 * source that fails rejects with its own error. In each case an existing file is unchanged.
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
  const known = knownOptions<WriteCsvOptions>("writeCsv", options, rules);
  assertRecords(records);
  const settings = { ...known, delimiter: known.delimiter ?? "," };
  const form = givenForm(settings);
  const resumable = resumableTarget(target, records, known);
  if (resumable) return writeResumableCsv(resumable, form, settings);
  const blocks = form ? blocksOf(records, form) : tableBlocks(records, settings, spoolPathOf(target));
  return writeBlocks(target, blocks, known);
};
