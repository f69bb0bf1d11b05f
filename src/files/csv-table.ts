import { open, rm } from "node:fs/promises";
import { ValidationError } from "../errors.ts";
import { explained } from "../runtime/atomic-file.ts";
import { isPlainObject, messageOf } from "../runtime/values.ts";
import { cellOf, guardFormula, typedCellOf, type WrittenCell } from "./csv-cell.ts";
import { FoundColumns, fieldBeside, type WriteColumn } from "./csv-columns.ts";
import { joinPath, valueAt } from "./dotted-path.ts";
import { readNdjson } from "./read-ndjson.ts";
import { type Block, blocksOf, type FileForm } from "./write-records.ts";

/** How CSV is written, whatever its columns. */
export interface CsvStyle {
  readonly delimiter: string;
  readonly escapeFormulas: boolean;
  readonly byteOrderMark: boolean;
}

const lineOf = (cells: readonly WrittenCell[], { delimiter, escapeFormulas }: CsvStyle): string => {
  const texts = cells.map(({ cell, isQuoted }) => {
    const text = typeof cell === "string" && escapeFormulas ? guardFormula(cell) : String(cell);
    return isQuoted || /["\r\n]/.test(text) || text.includes(delimiter)
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  });
  // A single empty cell would be a blank line, which is not a record.
  return `${texts.length === 1 && texts[0] === "" ? '""' : texts.join(delimiter)}\n`;
};

/** Processes a record; errors name its number. */
const numbered = <T>(number: number, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    throw new ValidationError(`record ${number}: ${messageOf(cause)}`, { cause });
  }
};

const assertObject = (record: unknown, number: number): void => {
  if (typeof record !== "object" || record === null)
    throw new ValidationError(`record ${number} is not an object`);
};

/**
 * A CSV file with these columns.
 *
 * @param isSelection - whether other fields are left out; otherwise a record that has one is refused.
 */
export const csvForm = (columns: readonly WriteColumn[], isSelection: boolean, style: CsvStyle): FileForm => {
  const paths = new Set(columns.map(({ path }) => path));
  // The reader detects the delimiter by unquoted cells.
  const names = columns.map(({ name }) => ({ cell: name, isQuoted: /[;\t]/.test(name) }));
  return {
    header: (style.byteOrderMark ? "\uFEFF" : "") + lineOf(names, style),
    row: (record, number) => {
      assertObject(record, number);
      const beside = isSelection ? undefined : numbered(number, () => fieldBeside(paths, record));
      if (beside !== undefined) {
        throw new ValidationError(
          `record ${number} has the field ${beside}, which has no column: name the columns in the option columns`,
        );
      }
      const cells = numbered(number, () =>
        columns.map(({ keys, path }) => typedCellOf(valueAt(record, keys), path, style.delimiter)),
      );
      return lineOf(cells, style);
    },
  };
};

const formOf = (found: FoundColumns, isSelection: boolean, style: CsvStyle): FileForm => {
  const columns = found.columns();
  if (columns.length > 0) return csvForm(columns, isSelection, style);
  throw new ValidationError("the first records have no fields: name the columns in the option columns");
};

const isJsonScalar = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  Number.isFinite(value);

const isJson = (value: unknown): boolean =>
  isJsonScalar(value) ||
  ((Array.isArray(value) || isPlainObject(value)) && Object.values(value).every(isJson));

const asJson = (cell: string | number | bigint): string | number =>
  typeof cell === "bigint" && Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);

/** Fields, with every value that has no exact JSON form replaced by the text of its cell. */
const asCells = (fields: Readonly<Record<string, unknown>>, above: readonly string[] = []): object => {
  const cells = Object.entries(fields).map(([key, value]) => {
    const keys = [...above, key];
    if (isPlainObject(value)) return [key, asCells(value, keys)];
    if (isJsonScalar(value)) return [key, value];
    // Before it is looked into, because this refuses a cycle.
    const cell = cellOf(value, joinPath(keys));
    return [key, isJson(value) ? value : asJson(cell)];
  });
  return Object.fromEntries(cells);
};

/** The records that wait for their columns in a file. A written record is not refused for a long line. */
const waitingIn = (path: string): AsyncGenerator<object> =>
  readNdjson(path, { maxLineBytes: Number.MAX_SAFE_INTEGER, gzip: false });

/** The blocks of a CSV file with a column for every field of the records in a file of NDJSON, which is read twice. */
export async function* tableOfFile(path: string, style: CsvStyle): AsyncGenerator<Block> {
  const found = new FoundColumns();
  let isEmpty = true;
  for await (const record of waitingIn(path)) {
    isEmpty = false;
    found.add(record);
  }
  if (!isEmpty) yield* blocksOf(waitingIn(path), formOf(found, true, style));
}

const sampleSize = 1000;

/** Stores the records after the first ones in a file, as NDJSON, which no other user may read. */
const spool = async (path: string, others: AsyncIterable<object>): Promise<void> => {
  const row = (record: object, number: number): string =>
    numbered(sampleSize + number, () => `${JSON.stringify(isPlainObject(record) ? asCells(record) : {})}\n`);
  const handle = await explained(path, () => open(path, "wx", 0o600));
  try {
    for await (const { text } of blocksOf(others, { header: "", row }))
      await explained(path, () => handle.writeFile(text));
  } finally {
    await handle.close();
  }
};

/** Collects the fields of each record before passing it on. */
async function* noted(records: Iterable<object> | AsyncIterable<object>, found: FoundColumns) {
  let number = 0;
  for await (const record of records) {
    number += 1;
    assertObject(record, number);
    numbered(number, () => found.add(record));
    yield record;
  }
}

/** The first records, then the others. */
async function* joined(first: readonly object[], others: AsyncIterable<object>): AsyncGenerator<object> {
  yield* first;
  yield* others;
}

/**
 * The blocks of a CSV file with a column for every field: up to 1,000 records wait for the columns in memory, more in a
 * file.
 *
 * @param spoolPath - the path for that file. Without it, the columns are the fields of the first 1,000 records, and a
 * later field is an error.
 */
export async function* tableBlocks(
  records: Iterable<object> | AsyncIterable<object>,
  style: CsvStyle,
  spoolPath: string | undefined,
): AsyncGenerator<Block> {
  const found = new FoundColumns();
  const source = noted(records, found);
  const sample: object[] = [];
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      if (sample.push(next.value) === sampleSize) break;
    }
    if (sample.length === 0) return;
    if (spoolPath === undefined || sample.length < sampleSize)
      return yield* blocksOf(joined(sample, source), formOf(found, false, style));
    try {
      await spool(spoolPath, source);
      yield* blocksOf(joined(sample, waitingIn(spoolPath)), formOf(found, true, style));
    } finally {
      await rm(spoolPath, { force: true });
    }
  } finally {
    await source.return(undefined);
  }
}
