import { type Line, readLines } from "../runtime/lines.ts";
import { messageOf } from "../runtime/values.ts";
import { problemOf, recordsOf } from "./invalid.ts";
import { defaultMaxLineBytes, knownOptions, type ReadOptions, readRules } from "./options.ts";
import { type FileSource, openSource } from "./source.ts";

/**
 * The JSON parser's message, made safe for a log: without the quoted text, which may be an address, and without the
 * line number that newer versions of Node add, which is always 1.
 */
export const jsonProblem = (message: string): string =>
  message.replace(/, (\.\.\.)?".*$/s, "").replace(/ \(line \d+ column \d+\)$/, "");

/** Options for reading NDJSON. */
export interface ReadNdjsonOptions extends ReadOptions {}

const parse = ({ fault, text }: Line, maxLineBytes: number) => {
  if (fault !== undefined) return { problem: problemOf(fault, maxLineBytes) };
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { record: value };
    return { problem: "not a JSON object; each line must hold one record, { … }" };
  } catch (error) {
    return { problem: `not JSON (${jsonProblem(messageOf(error))})` };
  }
};

/**
 * Reads newline-delimited JSON, one record at a time, with constant memory.
 *
 * A byte order mark, `\r\n`, blank lines and a missing last line end are accepted. Gzip is recognized by the first bytes; a name that ends with `.gz` requires it.
 * `break` closes the source. The type argument is not checked here; `events.ingest` and `contacts.import` check each
 * record.
 *
 * @returns one object per line, in the order of the lines.
 * @throws ValidationError for a line that is not a JSON object in UTF-8, or longer than `maxLineBytes`, unless you pass
 * `onInvalid`. It names the file and the line.
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
): AsyncGenerator<T> => {
  const known = knownOptions<ReadNdjsonOptions>("readNdjson", options, readRules);
  const { maxLineBytes = defaultMaxLineBytes } = known;
  const { name, chunks } = openSource(source, known.name);
  const lines = readLines(chunks, { maxLineBytes });
  const found = recordsOf(name, lines, (line) => parse(line, maxLineBytes), known.onInvalid);
  // The type of the records is up to the caller, as for JSON.parse.
  return found as AsyncGenerator<T>;
};
