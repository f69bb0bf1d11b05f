import { type Line, readLines, withoutMark } from "../runtime/lines.ts";
import { findUnsafeNumber } from "../runtime/unsafe-numbers.ts";
import { isRecord, messageOf, parsedJson } from "../runtime/values.ts";
import { lineError, problemOf, recordsOf, unsafeProblem } from "./invalid.ts";
import { defaultMaxLineBytes, knownOptions, type ReadOptions, readRules } from "./options.ts";
import { type FileSource, openSource } from "./source.ts";

/**
 * Makes the JSON parser's message safe for a log. Removes the quoted text, which may contain an address, and the line
 * number that newer versions of Node add, which is always 1.
 */
export const jsonProblem = (message: string): string =>
  message.replace(/, (\.\.\.)?".*$/s, "").replace(/ \(line \d+ column \d+\)$/, "");

/** @throws ValidationError if the first line shows an array, an object over several lines, a final comma, or CSV. */
const refuseOtherJson = (name: string, { line, text }: Line): void => {
  const start = text.trim();
  const isList = start.startsWith("[");
  // The first line of a pretty-printed object ends in the middle of the object.
  const isOpen = start.startsWith("{") && /[{[,]$/.test(start) && parsedJson(start) === undefined;
  if (isOpen && start.endsWith(",") && parsedJson(start.slice(0, -1)) !== undefined) {
    const problem = `a comma follows the record. Remove it from each line: sed 's/,$//' ${name} > records.ndjson`;
    throw lineError(name, line, { problem });
  }
  // A CSV header starts with a name, which may be quoted, and a delimiter. Its only column may also be the email
  // address.
  if (/^("[^"{}]+"|[^"{}[\]\d,;\t|-][^"{}[\],;\t|]*)[,;\t|].*[^}]$|^"?e-?mail[^,:{}]*$/is.test(start)) {
    const problem =
      "this looks like CSV, not NDJSON: convert it to NDJSON or, if it contains contacts, give the file a name that ends in .csv";
    throw lineError(name, line, { problem });
  }
  if (!isList && !isOpen) return;
  const what = isList ? "a JSON array" : "JSON over several lines";
  const problem = `this is ${what}, but each line must contain one record. Convert it: jq -c '${isList ? ".[]" : "."}' ${name} > records.ndjson`;
  throw lineError(name, line, { problem });
};

/** Options for reading NDJSON. */
export interface ReadNdjsonOptions extends ReadOptions {}

/** Finds why the JSON text of a record must not be read. */
type FindProblem = (json: string, fileName: string) => string | undefined;

const findUnsafe: FindProblem = (json) => {
  const unsafe = findUnsafeNumber(json);
  return unsafe === undefined ? undefined : unsafeProblem(unsafe);
};

const unwrapAll =
  'walk(if type == "object" and length == 1 and (keys[0] | startswith("$")) then .[] else . end)';

/** Also finds the objects that mongoexport writes in place of some values: `{ "$oid": "…" }`. */
export const findExtendedJson: FindProblem = (json, fileName) => {
  // In a JSON string, a backslash is before each quote, so the string doesn't match.
  const [, type] = /\{\s*"(\$(?:number(?:Long|Int|Double|Decimal)|date|oid))"\s*:/.exec(json) ?? [];
  return type === undefined
    ? findUnsafe(json, fileName)
    : `${type} shows a type of MongoDB, and would become an object. Convert the file: jq -c '${unwrapAll}' ${fileName} > records.ndjson`;
};

const parse = (
  { fault, text }: Line,
  maxLineBytes: number,
  findProblem: (json: string) => string | undefined,
) => {
  if (fault !== undefined) return { problem: problemOf(fault, maxLineBytes) };
  try {
    const value: unknown = JSON.parse(text);
    const problem = findProblem(text);
    if (problem !== undefined) return { problem };
    if (isRecord(value)) return { record: value };
    return { problem: "not a JSON object; each line must contain one record, { … }" };
  } catch (error) {
    return { problem: `not JSON (${jsonProblem(messageOf(error))})` };
  }
};

/**
 * Reads the records of a file.
 *
 * @param findProblem - finds what to refuse in valid JSON. A file that this package wrote from values in memory needs
 * no check.
 */
export const ndjsonRecords = <T extends object = Record<string, unknown>>(
  source: FileSource,
  options: ReadNdjsonOptions,
  findProblem: FindProblem,
): AsyncGenerator<T> => {
  const { maxLineBytes = defaultMaxLineBytes, onInvalid } = options;
  const { name, chunks, mayBeMisread } = openSource(source, options);
  const lines = readLines(chunks, { maxLineBytes, mayBeMisread });
  let isFirst = true;
  const parseLine = (original: Line) => {
    const text = withoutMark(original.text);
    const line = text === original.text ? original : { ...original, text };
    // Decide fast for most lines, which begin with the record.
    if (line.text[0] !== "{" && line.fault === undefined && line.text.trim() === "") return undefined;
    // Throw even with onInvalid, because in a file of another format, every line would be a bad line.
    if (isFirst) refuseOtherJson(name, line);
    isFirst = false;
    return parse(line, maxLineBytes, (json) => findProblem(json, name));
  };
  // The caller chooses the type of the records, as for JSON.parse.
  return recordsOf(name, lines, parseLine, onInvalid) as AsyncGenerator<T>;
};

/**
 * Reads newline-delimited JSON, one record at a time, with constant memory.
 *
 * A byte order mark, `\r\n`, blank lines and a missing last line end are accepted. Gzip is recognized by the first
 * bytes; a name that ends with `.gz` requires it. `break` closes the source. The type argument is not checked here;
 * `events.ingest` and `contacts.import` check each record.
 *
 * @returns one object per line, in the order of the lines.
 * @throws ValidationError for a line that is not a JSON object in UTF-8, or longer than `maxLineBytes`, unless you pass
 * `onInvalid`; always for a first line of another format. The error names the file and the line.
 * @throws ConfigurationError for an unknown option, and when a file cannot be opened or unpacked. A stream that fails
 * rejects with its own error.
 * @example
 * ```ts
 * import type { EventInput } from "touchpoint-sdk";
 * import { readNdjson } from "touchpoint-sdk/files";
 *
 * const events = readNdjson<EventInput>("events.ndjson.gz");
 * await client.events.ingest(events, { checkpoint: "events.checkpoint" });
 * ```
 */
export const readNdjson = <T extends object = Record<string, unknown>>(
  source: FileSource,
  options?: ReadNdjsonOptions,
): AsyncGenerator<T> =>
  ndjsonRecords(source, knownOptions<ReadNdjsonOptions>("readNdjson", options, readRules), findUnsafe);
