import { createReadStream, existsSync } from "node:fs";
import { appendFile, stat, truncate, writeFile } from "node:fs/promises";
import type { FileSource, InvalidLine, ReadOptions } from "../files/index.ts";
import { ConfigurationError, type RejectedContact, ValidationError } from "../index.ts";
import { messageOf } from "../runtime/values.ts";
import { type Request, UsageError } from "./command.ts";
import type { ProgressBar } from "./progress-bar.ts";
import { assertDistinct } from "./record-file.ts";

// The readers of `touchpoint-sdk/files` mark records with these symbols. Imports report the marked line, and the
// reason why it is unreadable.
const sourceLine = Symbol.for("touchpoint-sdk.source-line");
const unreadable = Symbol.for("touchpoint-sdk.unreadable-line");

/**
 * Stands among the records for a line that could not be read. Checkpoints don't count it, so that a program that leaves
 * such lines out with `onInvalid` can use the same checkpoint. The class has no field that JSON would write, so an
 * import passes the instance on and does not copy it.
 */
export class UnreadableLine {
  readonly [sourceLine]: number;
  readonly [unreadable]: string;
  readonly #text: string;

  constructor(line: number, text: string, error: string) {
    this[sourceLine] = line;
    this[unreadable] = error;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

/** Returns the record in a line of a `--rejected` file, or an UnreadableLine if the line still contains text. */
const unwrap = (record: object): object => {
  const { index, error, rejected, line = Number(index) + 1 }: { [field: string]: unknown } = { ...record };
  if (typeof index !== "number" || typeof error !== "string") return record;
  if (typeof rejected === "object" && rejected !== null) return rejected;
  if (typeof rejected !== "string") return record;
  // Don't parse the text again: if it is a CSV row, its header is in another file.
  return new UnreadableLine(
    Number(line),
    rejected,
    'the field "rejected" still contains text: replace it with a JSON object',
  );
};

// If more lines in a row are bad, the file contains something other than records.
const maxInARow = 1_000;

// Small chunks give small files an estimate, too.
const chunkBytes = 16 * 1024;

/**
 * Opens the file that a command names; `-` is standard input.
 *
 * @param read - a reader of `touchpoint-sdk/files`.
 * @param formatAdvice - what to do if the input isn't NDJSON. Set it only if the command assumes NDJSON.
 * @returns `records`, with an UnreadableLine for each line without a record. Their type isn't checked here: an import or
 * ingestion rejects invalid ones. Reading them throws a UsageError for a file of another kind, and the error of the
 * 1,001st bad line in a row. `total` returns the number of records without the bad lines: an estimate from the bytes
 * read so far, and the exact number at the end. For standard input, it returns undefined until the end.
 */
export const openRecords = <T extends object>(
  path: string,
  read: (source: FileSource, options: ReadOptions) => AsyncIterable<object>,
  formatAdvice?: string,
) => {
  let count = 0;
  let total: number | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      const { size } = await stat(path);
      let bytes = 0;
      for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
        yield chunk;
        // The reader of a plain file requests a chunk after it has returned all records of the previous chunks. The
        // reader of a gzip file reads ahead, so early estimates are too low.
        bytes += chunk.length;
        if (count > 0 && bytes < size) total = Math.round((count * size) / bytes);
      }
    } catch (cause) {
      throw new Error(`${path}: cannot be read (${messageOf(cause)})`, { cause });
    }
  }
  const [source, name] = path === "-" ? [process.stdin, "standard input"] : [chunks(), path];
  async function* records(): AsyncGenerator<object> {
    const bad: UnreadableLine[] = [];
    const onInvalid = ({ line, text, error }: InvalidLine): void => {
      // Use the first issue, because the error's message begins with the file name, which the user has just typed.
      bad.push(new UnreadableLine(line, text, error.issues[0]?.message ?? error.message));
      if (bad.length > maxInARow) throw error;
    };
    try {
      for await (const record of read(source, { name, onInvalid })) {
        count += 1;
        yield* bad.splice(0);
        yield unwrap(record);
      }
    } catch (error) {
      const isFirst = count === 0 && bad.length === 0;
      // The user named a file of another kind, or its header doesn't fit because options are missing.
      if (error instanceof ConfigurationError || (error instanceof ValidationError && isFirst)) {
        const advice = isFirst && formatAdvice !== undefined ? `. ${formatAdvice}` : "";
        throw new UsageError(error.message + advice, undefined, { cause: error });
      }
      throw error;
    }
    total = count;
    yield* bad;
  }
  // The caller knows what the file should contain.
  return { records: records() as AsyncGenerator<T>, total: () => total };
};

/** A line of the `--rejected` file: the origin and the error, with the record or, for an unreadable line, its text. */
export interface RejectedRecord extends Omit<RejectedContact, "contact"> {
  readonly rejected: unknown;
}

/** The beginning of each line of a file of rejected records. */
const lineStart = '{"index":';

/**
 * Reads the line number of each record in a file of rejected records, or its index if it has no line number. Only one
 * line is in memory at a time. Removes an incomplete last line, which a killed run has left.
 *
 * @throws UsageError if the file contains anything else. The file then stays unchanged.
 */
const positionsIn = async (path: string): Promise<Set<number>> => {
  const positions = new Set<number>();
  const foreignContent = new UsageError(
    `--rejected: ${path} contains something other than rejected records, so it is not overwritten. Name another file`,
  );
  let bytes = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const text = rest.toString("utf8", 0, end);
      const [beginning, index, line] = /^\{"index":(\d+),(?:"line":(\d+),)?/.exec(text) ?? [];
      if (beginning === undefined) throw foreignContent;
      positions.add(Number(line ?? index));
      bytes += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  if (!lineStart.startsWith(rest.toString("utf8", 0, lineStart.length))) throw foreignContent;
  if (rest.length > 0) await truncate(path, bytes);
  return positions;
};

/**
 * Opens the file of rejected records.
 *
 * @param isResumed - whether the run continues from a checkpoint. If it does, the lines of earlier runs stay, and a
 * record that is rejected again is not listed twice.
 */
export const rejectedFile = async (path: string, isResumed: boolean) => {
  // Check the content before truncating: don't empty a file that this command didn't write.
  await writeFile(path, "", { flag: "a" });
  const earlier = await positionsIn(path);
  if (!isResumed) await truncate(path);
  const positions = isResumed ? earlier : new Set<number>();
  return async ({ index, line, ...rejected }: RejectedRecord): Promise<void> => {
    if (positions.has(line ?? index)) return;
    await appendFile(path, `${JSON.stringify({ index, line, ...rejected })}\n`).catch((cause: Error) => {
      throw new Error(`--rejected: ${path} cannot be written: ${cause.message}`, { cause });
    });
  };
};

// Enough to see what is wrong. The file contains all rejected records.
const maxShown = 10;

const describe = ({ index, line, email, status, error }: RejectedRecord): string => {
  const origin = line === undefined ? `record ${index + 1}` : `line ${line}`;
  const whose = email === undefined ? "" : ` (${email})`;
  return `${origin}${whose}: ${error}${status === undefined ? "" : ` (${status})`}`;
};

/** Prints the first rejected records, and writes all of them to the file of `--rejected`. */
export const rejections = async (request: Request, bar: ProgressBar) => {
  const { rejected: path, checkpoint } = request.values;
  assertDistinct({ "the input": request.operands[0], "--checkpoint": checkpoint, "--rejected": path });
  const isResumed = checkpoint !== undefined && existsSync(checkpoint);
  const write = path === undefined ? undefined : await rejectedFile(path, isResumed);
  let count = 0;
  return async ({ rejected, ...origin }: RejectedRecord): Promise<void> => {
    const record = {
      ...origin,
      rejected: rejected instanceof UnreadableLine ? rejected.text : rejected,
    };
    count += 1;
    if (count <= maxShown) bar.print(describe(record));
    if (count === maxShown + 1)
      bar.print(
        path === undefined
          ? "More rejected records are not shown. To save all of them, use --rejected <path>."
          : `More rejected records: see ${path}`,
      );
    await write?.(record);
  };
};
