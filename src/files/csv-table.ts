import { stringify } from "csv-stringify/sync";
import { ValidationError } from "../errors.ts";
import { cellOf } from "./csv-cell.ts";
import { FoundColumns, fieldBeside, type WriteColumn } from "./csv-columns.ts";
import { valueAt } from "./dotted-path.ts";
import { guardFormula } from "./formulas.ts";
import { messageOf } from "./message-of.ts";
import type { WriteCsvOptions } from "./write-csv-options.ts";
import type { Piece } from "./write-pieces.ts";

/** The columns of a file, and how strict they are. */
export interface Table {
  readonly columns: readonly WriteColumn[];
  /** Whether the columns are the caller's choice, so that other fields are left out; else those are an error. */
  readonly isSelection: boolean;
  /** Whether the file already has its header. */
  readonly hasHeader: boolean;
}

const sampleSize = 1000;

const lineOf = (cells: readonly string[], delimiter: string): string =>
  // A lone empty cell would make a blank line, which is no record.
  stringify([[...cells]], { delimiter, quoted_empty: cells.length === 1 });

const headerOf = ({ columns }: Table, delimiter: string, options: WriteCsvOptions): Piece => {
  const { escapeFormulas = true, byteOrderMark = false } = options;
  const names = columns.map(({ name }) => (escapeFormulas ? guardFormula(name) : name));
  return { text: (byteOrderMark ? "\uFEFF" : "") + lineOf(names, delimiter), isRecord: false };
};

/** Makes lines of records; its errors name the record. */
const rowWriter = (
  { columns, isSelection }: Table,
  delimiter: string,
  { escapeFormulas = true }: WriteCsvOptions,
) => {
  const paths = new Set(columns.map(({ path }) => path));
  return (record: object, number: number): Piece => {
    const beside = isSelection ? undefined : fieldBeside(paths, record);
    if (beside !== undefined) {
      throw new ValidationError(
        `record ${number} has the field ${beside}, which has no column: name the columns in the option columns`,
      );
    }
    try {
      const cells = columns.map(({ keys, path }) => cellOf(valueAt(record, keys), path, escapeFormulas));
      return { text: lineOf(cells, delimiter), isRecord: true };
    } catch (cause) {
      throw new ValidationError(`record ${number}: ${messageOf(cause)}`, { cause });
    }
  };
};

/** The first records together, then each alone. */
async function* sampled(records: Iterable<object> | AsyncIterable<object>, size: number) {
  let sample: object[] | undefined = [];
  let number = 0;
  for await (const record of records) {
    number += 1;
    if (typeof record !== "object" || record === null) {
      throw new ValidationError(`record ${number} is not an object`);
    }
    if (sample === undefined) {
      yield [record];
    } else if (sample.push(record) === size) {
      yield sample;
      sample = undefined;
    }
  }
  if (sample !== undefined && sample.length > 0) yield sample;
}

const tableIn = (sample: readonly object[]): Table => {
  const found = new FoundColumns();
  for (const record of sample) found.add(record);
  const columns = found.columns();
  if (columns.length > 0) return { columns, isSelection: false, hasHeader: false };
  throw new ValidationError("the first records have no fields: name the columns in the option columns");
};

/** The header, unless the file has it, and the rows. Without a table, the columns are those of the first records. */
export async function* tablePieces(
  records: Iterable<object> | AsyncIterable<object>,
  known: Table | undefined,
  options: WriteCsvOptions & { readonly delimiter: string },
): AsyncGenerator<Piece> {
  const { delimiter } = options;
  if (known && !known.hasHeader) yield headerOf(known, delimiter, options);
  let row = known && rowWriter(known, delimiter, options);
  let number = 0;
  for await (const some of sampled(records, known ? 1 : sampleSize)) {
    if (row === undefined) {
      const table = tableIn(some);
      yield headerOf(table, delimiter, options);
      row = rowWriter(table, delimiter, options);
    }
    for (const record of some) {
      number += 1;
      yield row(record, number);
    }
  }
}
