import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { InvalidLine } from "../files/index.ts";
import { type Request, textOf, UsageError } from "./command.ts";
import type { ProgressBar } from "./progress-bar.ts";

/** A line that could not be read. It takes the place of its record, so that the checkpoint counts it. */
export class UnreadableLine {
  readonly line: number;
  readonly text: string;
  readonly error: string;

  constructor(line: number, text: string, error: string) {
    this.line = line;
    this.text = text;
    this.error = error;
  }
}

/** Unwraps a line of a `--rejected` file: its record, or again the text of a line without one. */
const unwrapped = (record: object): object => {
  const { record: number, error, rejected, line = number }: { [field: string]: unknown } = { ...record };
  if (typeof number !== "number" || typeof error !== "string") return record;
  if (typeof rejected === "object" && rejected !== null) return rejected;
  if (typeof rejected !== "string") return record;
  return new UnreadableLine(Number(line), rejected, error);
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
  let bad: UnreadableLine[] = [];
  const takeBad = (): UnreadableLine[] => {
    const taken = bad;
    bad = [];
    return taken;
  };
  const records = read((invalid) => {
    if (isFirst && otherwise !== undefined && !/^\s*\{/.test(invalid.text))
      throw new UsageError(
        `${invalid.file} is not NDJSON: its first line does not start with {. ${otherwise}`,
      );
    isFirst = false;
    if (bad.push(unreadable(invalid)) > mostInARow) throw invalid.error;
  });
  for await (const record of records) {
    isFirst = false;
    yield* takeBad();
    yield unwrapped(record);
  }
  yield* takeBad();
}

/** A refused record, as a line of the file. */
export interface RejectedRecord {
  /** Its number in the source, from 1. */
  readonly record: number;
  /** The line of the source, if known. */
  readonly line?: number;
  /** The service's status; absent if the record was never sent. */
  readonly status?: number;
  readonly error: string;
  /** The record, or the text of a line without one. */
  readonly rejected: unknown;
}

const readExisting = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
};

const numberOf = (line: string): number => {
  const { record }: { record?: unknown } = Object(JSON.parse(line));
  return typeof record === "number" ? record : Number.NaN;
};

/**
 * Opens the file of refused records.
 *
 * @param isResumed - whether the run continues from a checkpoint. If so, the lines of earlier runs stay, and a record that is
 * refused again is not listed twice.
 */
export const rejectedFile = async (path: string, isResumed: boolean) => {
  const known = new Set<number>();
  if (isResumed) {
    const text = await readExisting(path);
    // Removes an incomplete last line of a killed run.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (text !== whole) await truncate(path, Buffer.byteLength(whole));
    for (const line of whole.split("\n")) if (line !== "") known.add(numberOf(line));
  } else {
    await writeFile(path, "");
  }
  return async (rejected: RejectedRecord): Promise<void> => {
    if (known.has(rejected.record)) return;
    await appendFile(path, `${JSON.stringify(rejected)}\n`);
  };
};

/** A record that an ingestion or an import refused. */
export interface Refused {
  readonly item: object;
  readonly index: number;
  readonly status: number | undefined;
  readonly error: string;
}

// Enough to see what is wrong. The file has all.
const mostShown = 10;

const recordOf = ({ item, index, status, error }: Refused): RejectedRecord => {
  const record = index + 1;
  if (item instanceof UnreadableLine)
    return { record, line: item.line, error: item.error, rejected: item.text };
  return { record, ...(status === undefined ? {} : { status }), error, rejected: item };
};

const describe = ({ record, line, status, error }: RejectedRecord): string => {
  const place = line === undefined ? `record ${record}` : `line ${line}`;
  return `${place}: ${error}${status === undefined ? "" : ` (${status})`}`;
};

const exists = async (path: string | undefined): Promise<boolean> =>
  path !== undefined && (await stat(path).catch(() => undefined)) !== undefined;

/** Shows the first refused records, and writes all to the file of `--rejected`. */
export const rejections = async (request: Request, bar: ProgressBar) => {
  const path = textOf(request, "rejected");
  if (path !== undefined && resolve(path) === resolve(request.operands[0] ?? ""))
    throw new UsageError("--rejected must not be the file that is read");
  const isResumed = await exists(textOf(request, "checkpoint"));
  const keep = path === undefined ? undefined : await rejectedFile(path, isResumed);
  let count = 0;
  return async (refused: Refused): Promise<void> => {
    const rejected = recordOf(refused);
    count += 1;
    if (count <= mostShown) bar.print(describe(rejected));
    if (count === mostShown + 1)
      bar.print(
        path === undefined
          ? "further ones are not shown; --rejected <path> keeps all"
          : `further ones: see ${path}`,
      );
    await keep?.(rejected);
  };
};
