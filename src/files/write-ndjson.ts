import { ValidationError } from "../errors.ts";
import { messageOf } from "../runtime/values.ts";
import { exportList, exportTarget } from "./export-list.ts";
import { knownOptions, type WriteOptions, type Written, writeRules } from "./options.ts";
import { assertRecords, blocksOf, type FileForm, type FileTarget, writeBlocks } from "./write-records.ts";

/** Options for writing NDJSON. */
export interface WriteNdjsonOptions extends WriteOptions {}

const lineOf = (record: object, number: number): string => {
  try {
    // The result is undefined for a value without a JSON form, such as a function, although its type is string.
    const text: string | undefined = JSON.stringify(record);
    if (text?.startsWith("{")) return `${text}\n`;
  } catch (cause) {
    throw new ValidationError(`record ${number} cannot be written as JSON (${messageOf(cause)})`, { cause });
  }
  throw new ValidationError(`record ${number} is not an object; each line contains one record, { … }`);
};

/** The form of NDJSON: one record per line, without a header. */
export const ndjsonForm: FileForm = { header: "", row: lineOf };

/**
 * Writes newline-delimited JSON from any (async) iterable, with constant memory, as fast as the target accepts it.
 *
 * The file appears under its name when it is complete: it is written to a `.tmp` file, synced and renamed. A stream is
 * not ended.
 *
 * @returns the number of written records and bytes.
 * @throws ValidationError for a record that is not an object or has no JSON form; it names the number of the record,
 * from 1. Also for records that cannot be iterated, such as a page.
 * @throws ConfigurationError for an unknown option, and when a file cannot be written. A stream or a source that fails
 * rejects with its own error. In each case an existing file is unchanged.
 * @example
 * ```ts
 * import { writeNdjson } from "touchpoint-sdk/files";
 *
 * await writeNdjson("contacts.ndjson", client.contacts.list(), { checkpoint: "contacts.checkpoint" });
 * ```
 */
export const writeNdjson = async (
  target: FileTarget,
  records: Iterable<object> | AsyncIterable<object>,
  options?: WriteNdjsonOptions,
): Promise<Written> => {
  const checked = knownOptions<WriteNdjsonOptions>("writeNdjson", options, writeRules);
  assertRecords(records);
  const exported = exportTarget(target, records, checked);
  if (exported) return exportList(exported, { ndjson: 1 }, ndjsonForm, checked);
  return writeBlocks(target, blocksOf(records, ndjsonForm), checked);
};
