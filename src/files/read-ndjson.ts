import { markLine, withSettled } from "../runtime/source-line.ts";
import { messageOf } from "../runtime/values.ts";
import { type Fault, problemOf, ReaderPlace, reporter } from "./invalid.ts";
import { type Line, readLines } from "./lines.ts";
import { knownOptions, maxLineBytesOf, type ReadOptions, readKinds } from "./options.ts";
import { type FileSource, openSource } from "./source.ts";

/**
 * The JSON parser's message, made safe for a log: without the quoted text, which may be an address, and without the
 * line number that newer versions of Node add, which is always 1.
 */
export const jsonProblem = (message: string): string =>
  message.replace(/, (\.\.\.)?".*$/s, "").replace(/ \(line \d+ column \d+\)$/, "");

/** Options for reading NDJSON. */
export interface ReadNdjsonOptions extends ReadOptions {}

const parse = (text: string): { readonly record: object } | { readonly problem: string } => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { record: value };
    return { problem: "not a JSON object; each line must hold one record, { … }" };
  } catch (error) {
    return { problem: `not JSON (${jsonProblem(messageOf(error))})` };
  }
};

async function* records(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
  place: ReaderPlace,
  report: (fault: Fault) => Promise<void>,
): AsyncGenerator<object> {
  const parseLine = ({ fault, text }: Line) =>
    fault === undefined ? parse(text) : { problem: problemOf(fault, maxLineBytes) };
  for await (const lines of readLines(chunks, { maxLineBytes })) {
    for (const line of lines) {
      if (line.fault === undefined && line.text.trim() === "") continue;
      const parsed = parseLine(line);
      if ("record" in parsed) {
        place.given += 1;
        yield markLine(parsed.record, line.number);
      } else await report({ line: line.number, text: line.text, problem: parsed.problem });
    }
  }
}

/**
 * Reads newline-delimited JSON, one record at a time, with constant memory.
 *
 * A byte order mark, `\r\n`, blank lines and a missing last line end are accepted. Gzip is recognized by the first bytes.
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
  const known = knownOptions("readNdjson", options, readKinds, {});
  const maxLineBytes = maxLineBytesOf(known);
  const { name, chunks } = openSource(source, known);
  const place = new ReaderPlace();
  const found = records(chunks, maxLineBytes, place, reporter(name, known.onInvalid, place));
  // The type of the records is up to the caller, as for JSON.parse.
  return withSettled(found, (count) => place.pass(count)) as AsyncGenerator<T>;
};
