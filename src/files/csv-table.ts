import { open, rm } from "node:fs/promises";
import { ValidationError } from "../errors.ts";
import { explained } from "../runtime/atomic-file.ts";
import { isDate, isPlainObject, messageOf } from "../runtime/values.ts";
import { cellOf, guardFormula, typedCellOf, type WrittenCell } from "./csv-cell.ts";
import { type Column, ColumnCollector } from "./csv-columns.ts";
import { joinPath, valueAt } from "./dotted-path.ts";
import { ndjsonRecords } from "./read-ndjson.ts";
import { type Block, blocksOf, type FileForm } from "./write-records.ts";

/** The settings for writing CSV that don't depend on its columns. */
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
  // Quote a single empty cell. Otherwise, the line would be blank, which is not a record.
  return `${texts.length === 1 && texts[0] === "" ? '""' : texts.join(delimiter)}\n`;
};

/** Writes a record as text. @throws ValidationError naming the number of the record. */
const rowOf = (record: unknown, number: number, write: () => string): string => {
  if (typeof record !== "object" || record === null)
    throw new ValidationError(`record ${number} is not an object`);
  try {
    return write();
  } catch (cause) {
    throw new ValidationError(`record ${number}: ${messageOf(cause)}`, { cause });
  }
};

/** Creates the form of a CSV file with these columns. Fields without a column are left out. */
export const csvForm = (columns: readonly Column[], style: CsvStyle): FileForm => {
  // The reader detects the delimiter outside quotes, so quote names that contain any possible delimiter.
  const names = columns.map(({ name }) => ({ cell: name, isQuoted: /[,;\t|]/.test(name) }));
  const fields = columns.map(({ keys }) => ({ keys, path: joinPath(keys) }));
  const cellsOf = (record: object) =>
    fields.map(({ keys, path }) => typedCellOf(valueAt(record, keys), path, style.delimiter));
  return {
    header: (style.byteOrderMark ? "\uFEFF" : "") + lineOf(names, style),
    row: (record, number) => rowOf(record, number, () => lineOf(cellsOf(record), style)),
  };
};

/**
 * A JSON replacer that writes values as cells do: JSON has no bigint and no NaN, and writes an invalid Date as null.
 */
function asCell(this: object, key: string, value: unknown): unknown {
  const original: unknown = Reflect.get(this, key);
  if (isDate(original)) return cellOf(original, key);
  if (typeof original === "bigint")
    return Number.isSafeInteger(Number(original)) ? Number(original) : String(original);
  return typeof original === "number" && !Number.isFinite(original) ? String(original) : value;
}

/**
 * Reads the records from the NDJSON file in which they are kept until all columns of the CSV file are known. Lines may
 * have any length.
 */
const spooledRecords = (path: string): AsyncGenerator<object> =>
  ndjsonRecords(path, { maxLineBytes: Number.MAX_SAFE_INTEGER }, () => undefined);

/** Creates the blocks of a CSV file from records in an NDJSON file. */
const tableWith = (path: string, collected: ColumnCollector, style: CsvStyle): AsyncIterable<Block> => {
  const columns = collected.columns();
  if (columns.length > 0) return blocksOf(spooledRecords(path), csvForm(columns, style));
  throw new ValidationError("the records have no fields: list the columns in the option columns");
};

/** Creates the blocks of a CSV file with a column for every field. Reads the NDJSON file with the records twice. */
export async function* tableOfFile(path: string, style: CsvStyle): AsyncGenerator<Block> {
  const columns = new ColumnCollector();
  for await (const record of spooledRecords(path)) columns.add(record);
  if (columns.records > 0) yield* tableWith(path, columns, style);
}

/**
 * Creates the blocks of a CSV file with a column for every field of the records. The columns are known only after the
 * last record. Until then, the records wait in an NDJSON file that no other user may read.
 */
export async function* spooledTable(
  records: Iterable<object> | AsyncIterable<object>,
  path: string,
  style: CsvStyle,
): AsyncGenerator<Block> {
  const columns = new ColumnCollector();
  const row = (record: object, number: number): string =>
    rowOf(record, number, () => {
      columns.add(record);
      return `${JSON.stringify(isPlainObject(record) ? record : {}, asCell)}\n`;
    });
  const handle = await explained(path, () => open(path, "wx", 0o600));
  try {
    for await (const { text } of blocksOf(records, { header: "", row }))
      await explained(path, () => handle.writeFile(text));
    if (columns.records > 0) yield* tableWith(path, columns, style);
  } finally {
    await handle.close();
    await rm(path, { force: true });
  }
}
