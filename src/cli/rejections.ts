import { createReadStream, existsSync } from "node:fs";
import { appendFile, truncate, writeFile } from "node:fs/promises";
import type { FileSource, InvalidLine, ReadOptions } from "../files/index.ts";
import { ConfigurationError, type RejectedContact, ValidationError } from "../index.ts";
import { type Request, UsageError } from "./command.ts";
import type { ProgressBar } from "./progress-bar.ts";
import { assertDistinct, openInput } from "./record-file.ts";

// The readers of `touchpoint-sdk/files` mark records with these symbols. Imports and plans report the marked line.
const sourceLine = Symbol.for("touchpoint-sdk.source-line");
const isUnreadable = Symbol.for("touchpoint-sdk.unreadable-line");

/**
 * Stands among the records for a line that could not be read. Checkpoints don't count it, so that a program that leaves
 * such lines out with `onInvalid` can use the same checkpoint. The class has no field that JSON would write, so an
 * import passes the instance on and does not copy it.
 */
export class UnreadableLine {
  readonly [sourceLine]: number;
  readonly [isUnreadable] = true;
  readonly #text: string;
  readonly #error: string;

  constructor(line: number, text: string, error: string) {
    this[sourceLine] = line;
    this.#text = text;
    this.#error = error;
  }

  get text(): string {
    return this.#text;
  }

  get error(): string {
    return this.#error;
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

// Use the first issue, because the error's message begins with the file name, which the user has just typed.
const toUnreadable = ({ line, text, error }: InvalidLine): UnreadableLine =>
  new UnreadableLine(line, text, error.issues[0]?.message ?? error.message);

// If more lines in a row are bad, the file contains something other than records.
const maxInARow = 1_000;

/**
 * Reads records, with an UnreadableLine for each line without a record.
 *
 * @param read - starts reading, and reports each bad line to `onInvalid`.
 * @param formatAdvice - advice for an input that isn't NDJSON. Set it only if the command assumes NDJSON.
 * @throws UsageError when the first line of assumed NDJSON does not start with `{`.
 * @throws the error of the 1,001st bad line in a row.
 */
export async function* readableRecords(
  read: (onInvalid: (invalid: InvalidLine) => void) => AsyncIterable<object>,
  formatAdvice?: string,
): AsyncGenerator<object> {
  let isFirst = true;
  const bad: UnreadableLine[] = [];
  // The command assumes a format only for standard input.
  const notNdjson = `standard input is not NDJSON: its first line does not start with {. ${formatAdvice}`;
  try {
    const records = read((invalid) => {
      if (isFirst && formatAdvice !== undefined && !/^\s*\{/.test(invalid.text))
        throw new UsageError(notNdjson);
      isFirst = false;
      if (bad.push(toUnreadable(invalid)) > maxInARow) throw invalid.error;
    });
    for await (const record of records) {
      isFirst = false;
      yield* bad.splice(0);
      yield unwrap(record);
    }
  } catch (error) {
    const isCsv = error instanceof ValidationError && error.message.includes(": this looks like CSV");
    if (isFirst && formatAdvice !== undefined && isCsv) throw new UsageError(notNdjson);
    // The user named a file of another kind, or its header doesn't fit because options are missing.
    if (error instanceof ConfigurationError || (error instanceof ValidationError && isFirst))
      throw new UsageError(error.message, undefined, { cause: error });
    throw error;
  }
  yield* bad.splice(0);
}

/**
 * Opens the file that a command names.
 *
 * @param read - a reader of `touchpoint-sdk/files`.
 * @returns the `records` of the file. Their type isn't checked here: an import or ingestion rejects invalid ones.
 */
export const openRecords = <T extends object>(
  path: string,
  read: (source: FileSource, options: ReadOptions) => AsyncIterable<object>,
  formatAdvice?: string,
) => {
  const { source, name, countRecords, total } = openInput(path);
  const records = readableRecords(
    (onInvalid) => countRecords(read(source, { name, onInvalid })),
    formatAdvice,
  );
  return { records: records as AsyncIterable<T>, total };
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
    const record =
      rejected instanceof UnreadableLine
        ? { ...origin, error: rejected.error, rejected: rejected.text }
        : { ...origin, rejected };
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
