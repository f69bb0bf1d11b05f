import { createReadStream, existsSync } from "node:fs";
import { appendFile, truncate, writeFile } from "node:fs/promises";
import type { FileSource, InvalidLine, ReadOptions } from "../files/index.ts";
import { ConfigurationError, type RejectedContact, ValidationError } from "../index.ts";
import { type Request, UsageError } from "./command.ts";
import type { ProgressBar } from "./progress-bar.ts";
import { assertDistinct, openInput } from "./record-file.ts";

// As the readers of `touchpoint-sdk/files` mark records: an import and its plan name a row by this line.
const sourceLine = Symbol.for("touchpoint-sdk.source-line");
const isUnreadable = Symbol.for("touchpoint-sdk.unreadable-line");

/**
 * A line that could not be read. It comes between the records around it, and no checkpoint counts it, so that a program
 * that reads the file with `onInvalid` can go on. It has no fields that JSON sees, so that no copy replaces it.
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

/** Unwraps a line of a `--rejected` file: its record, or the text that still takes the place of one. */
const unwrapped = (record: object): object => {
  const { index, error, rejected, line = Number(index) + 1 }: { [field: string]: unknown } = { ...record };
  if (typeof index !== "number" || typeof error !== "string") return record;
  if (typeof rejected === "object" && rejected !== null) return rejected;
  if (typeof rejected !== "string") return record;
  // Not read anew: of a row of CSV, the header is in another file.
  return new UnreadableLine(
    Number(line),
    rejected,
    'the field "rejected" still contains text: replace it with a JSON object',
  );
};

// The first issue, because the error's message begins with the file name, which the user has just typed.
const unreadable = ({ line, text, error }: InvalidLine): UnreadableLine =>
  new UnreadableLine(line, text, error.issues[0]?.message ?? error.message);

// So many in a row mean that the file holds something else.
const mostInARow = 1_000;

/**
 * Reads records, with an UnreadableLine for each line without a record.
 *
 * @param read - starts reading, and reports each bad line to `onInvalid`.
 * @param otherwise - what to do if the input holds something else: NDJSON was only assumed.
 * @throws UsageError when the first line of assumed NDJSON does not start an object.
 * @throws the error of a bad line when 1,000 in a row are bad.
 */
export async function* readableRecords(
  read: (onInvalid: (invalid: InvalidLine) => void) => AsyncIterable<object>,
  otherwise?: string,
): AsyncGenerator<object> {
  let isFirst = true;
  const bad: UnreadableLine[] = [];
  // Only of standard input the format is assumed.
  const notNdjson = `standard input is not NDJSON: its first line does not start with {. ${otherwise}`;
  try {
    const records = read((invalid) => {
      if (isFirst && otherwise !== undefined && !/^\s*\{/.test(invalid.text)) throw new UsageError(notNdjson);
      isFirst = false;
      if (bad.push(unreadable(invalid)) > mostInARow) throw invalid.error;
    });
    for await (const record of records) {
      isFirst = false;
      yield* bad.splice(0);
      yield unwrapped(record);
    }
  } catch (error) {
    const isCsv = error instanceof ValidationError && error.message.includes(": this looks like CSV");
    if (isFirst && otherwise !== undefined && isCsv) throw new UsageError(notNdjson);
    // The file is something else, or its header does not fit: the command line names the wrong file, or options are missing.
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
 * @returns its `records`, whose type is not checked here: an import or ingestion rejects those that do not fit.
 */
export const openRecords = <T extends object>(
  path: string,
  read: (source: FileSource, options: ReadOptions) => AsyncIterable<object>,
  otherwise?: string,
) => {
  const { source, name, counted, total } = openInput(path);
  const records = readableRecords((onInvalid) => read(source, { name, onInvalid }), otherwise);
  return { records: counted(records) as AsyncIterable<T>, total };
};

/** A line of the file: what `onRejected` and `--plan` tell, and the record, or the text of a line without one. */
export interface RejectedRecord extends Omit<RejectedContact, "contact"> {
  readonly rejected: unknown;
}

/** How each line of a file of refused records begins. */
const start = '{"index":';

/**
 * The lines, or without one the indexes, in a file of refused records, one line in memory at a time. Removes an incomplete last line, which is of a
 * killed run.
 *
 * @throws UsageError for a file of anything else, which stays as it is.
 */
const knownIn = async (path: string): Promise<Set<number>> => {
  const indexes = new Set<number>();
  const other = new UsageError(`--rejected: ${path} does not contain rejected records. Name another file`);
  let bytes = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const text = rest.toString("utf8", 0, end);
      const [begun, index, line] = /^\{"index":(\d+),(?:"line":(\d+),)?/.exec(text) ?? [];
      if (begun === undefined) throw other;
      indexes.add(Number(line ?? index));
      bytes += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  if (!start.startsWith(rest.toString("utf8", 0, start.length))) throw other;
  if (rest.length > 0) await truncate(path, bytes);
  return indexes;
};

/**
 * Opens the file of refused records.
 *
 * @param isResumed - whether the run continues from a checkpoint. If so, the lines of earlier runs stay, and a record that is
 * refused again is not listed twice.
 */
export const rejectedFile = async (path: string, isResumed: boolean) => {
  // Read first: a file that this command did not write must not be emptied.
  await writeFile(path, "", { flag: "a" });
  const earlier = await knownIn(path);
  if (!isResumed) await truncate(path);
  const indexes = isResumed ? earlier : new Set<number>();
  return async ({ index, line, ...rejected }: RejectedRecord): Promise<void> => {
    if (indexes.has(line ?? index)) return;
    await appendFile(path, `${JSON.stringify({ index, line, ...rejected })}\n`).catch((cause: Error) => {
      throw new Error(`--rejected: ${path} cannot be written: ${cause.message}`, { cause });
    });
  };
};

// Enough to see what is wrong. The file has all.
const mostShown = 10;

const describe = ({ index, line, email, status, error }: RejectedRecord): string => {
  const origin = line === undefined ? `record ${index + 1}` : `line ${line}`;
  const whose = email === undefined ? "" : ` (${email})`;
  return `${origin}${whose}: ${error}${status === undefined ? "" : ` (${status})`}`;
};

/** Shows the first refused records, and writes all to the file of `--rejected`. */
export const rejections = async (request: Request, bar: ProgressBar) => {
  const { rejected: path, checkpoint } = request.values;
  assertDistinct({ "the input": request.operands[0], "--checkpoint": checkpoint, "--rejected": path });
  const isResumed = checkpoint !== undefined && existsSync(checkpoint);
  const keep = path === undefined ? undefined : await rejectedFile(path, isResumed);
  let count = 0;
  return async ({ rejected, ...origin }: RejectedRecord): Promise<void> => {
    const record =
      rejected instanceof UnreadableLine
        ? { ...origin, error: rejected.error, rejected: rejected.text }
        : { ...origin, rejected };
    count += 1;
    if (count <= mostShown) bar.print(describe(record));
    if (count === mostShown + 1)
      bar.print(
        path === undefined
          ? "More rejected records are not shown. To save all of them, use --rejected <path>."
          : `More rejected records: see ${path}`,
      );
    await keep?.(record);
  };
};
