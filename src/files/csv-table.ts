import { stringify } from "csv-stringify/sync";
import { ValidationError } from "../errors.ts";
import { messageOf } from "../runtime/values.ts";
import { guardFormula, typedCellOf, type WrittenCell } from "./csv-cell.ts";
import { FoundColumns, fieldBeside, type WriteColumn, type WriteColumns } from "./csv-columns.ts";
import { valueAt } from "./dotted-path.ts";
import type { WriteOptions } from "./options.ts";
import { spoolRecords } from "./spool.ts";
import type { Piece } from "./write-pieces.ts";

/** Options for writing CSV. */
export interface WriteCsvOptions extends WriteOptions {
  /** The character between cells; default a comma. */
  readonly delimiter?: string | undefined;
  /**
   * The columns in their order, as paths (`["email", "customFields.plan"]`) or paths and names (`{ email: "E-mail" }`).
   * Other fields are left out; a column without values is empty. Default: every field. All records but the first 1,000
   * are then written twice, first to `<path>.<8 characters>.rows.tmp`. For a stream, the default is the fields of
   * the first 1,000 records: a later record with another field is then an error.
   */
  readonly columns?: WriteColumns | undefined;
  /**
   * Whether text that a spreadsheet may run as a formula gets an apostrophe before it; default true. `readCsv` removes
   * it again. Numbers stay unchanged. A phone number such as `+44 20 7946 0000` is text and gets an apostrophe; set
   * this to false for programs that do not remove it.
   */
  readonly escapeFormulas?: boolean | undefined;
  /** Whether to start with a byte order mark, so that Excel recognizes UTF-8; default false. */
  readonly byteOrderMark?: boolean | undefined;
}

/** The columns of a file, and how strict they are. */
export interface Table {
  readonly columns: readonly WriteColumn[];
  /** Whether the caller chose the columns, so that other fields are left out; otherwise those are an error. */
  readonly isSelection: boolean;
  /** Whether the file already has its header. */
  readonly hasHeader: boolean;
}

const sampleSize = 1000;

type CsvOptions = WriteCsvOptions & { readonly delimiter: string };

const lineOf = (cells: readonly WrittenCell[], { delimiter, escapeFormulas = true }: CsvOptions): string => {
  const guarded = cells.map(({ cell }) =>
    typeof cell === "string" && escapeFormulas ? guardFormula(cell) : cell,
  );
  return stringify([guarded], {
    delimiter,
    escape_formulas: escapeFormulas,
    // A single empty cell would be a blank line, which is not a record.
    quoted_empty: cells.length === 1,
    cast: {
      string: (value, { index }) => (cells[index]?.isQuoted ? { value, quoted: true } : value),
    },
  });
};

const headerOf = ({ columns }: Table, options: CsvOptions): Piece => {
  // The reader detects the delimiter by unquoted cells.
  const names = columns.map(({ name }) => ({ cell: name, isQuoted: /[;\t]/.test(name) }));
  const line = lineOf(names, options);
  return { text: (options.byteOrderMark ? "\uFEFF" : "") + line, isRecord: false };
};

/** Processes a record; errors name its number. */
const numbered = <T>(number: number, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    throw new ValidationError(`record ${number}: ${messageOf(cause)}`, { cause });
  }
};

/** Converts records to lines; its errors name the record. */
const rowWriter = ({ columns, isSelection }: Table, options: CsvOptions) => {
  const paths = new Set(columns.map(({ path }) => path));
  return (record: object, number: number): Piece => {
    const beside = numbered(number, () => (isSelection ? undefined : fieldBeside(paths, record)));
    if (beside !== undefined) {
      throw new ValidationError(
        `record ${number} has the field ${beside}, which has no column: name the columns in the option columns`,
      );
    }
    const cells = numbered(number, () =>
      columns.map(({ keys, path }) => typedCellOf(valueAt(record, keys), path, options.delimiter)),
    );
    return { text: lineOf(cells, options), isRecord: true };
  };
};

async function* checked(records: Iterable<object> | AsyncIterable<object>): AsyncGenerator<object> {
  let number = 0;
  for await (const record of records) {
    number += 1;
    if (typeof record !== "object" || record === null) {
      throw new ValidationError(`record ${number} is not an object`);
    }
    yield record;
  }
}

const tableOf = (found: FoundColumns, isSelection: boolean): Table => {
  const columns = found.columns();
  if (columns.length > 0) return { columns, isSelection, hasHeader: false };
  throw new ValidationError("the first records have no fields: name the columns in the option columns");
};

/** The header, unless the file has it already, and the rows. */
async function* rowsOf(records: AsyncIterable<object>, table: Table, options: CsvOptions) {
  if (!table.hasHeader) yield headerOf(table, options);
  const row = rowWriter(table, options);
  let number = 0;
  for await (const record of records) {
    number += 1;
    yield row(record, number);
  }
}

/** Collects the fields of each record before passing it on; `first` is the number of the first record. */
async function* noting(records: AsyncIterable<object>, found: FoundColumns, first: number) {
  let number = first;
  for await (const record of records) {
    numbered(number, () => found.add(record));
    yield record;
    number += 1;
  }
}

/** The first records, then the others. */
async function* joined(first: readonly object[], others: AsyncIterable<object>): AsyncGenerator<object> {
  yield* first;
  yield* others;
}

/**
 * The pieces of a CSV file.
 *
 * @param known - its table. Without one, every field becomes a column: up to 1,000 records wait for it in memory, more
 * in a file.
 * @param spoolPath - the path for that file. Without it, the columns are the fields of the first 1,000 records, and a
 * later field is an error.
 */
export async function* tablePieces(
  records: Iterable<object> | AsyncIterable<object>,
  known: Table | undefined,
  options: CsvOptions,
  spoolPath?: string,
): AsyncGenerator<Piece> {
  const source = checked(records);
  try {
    if (known !== undefined) return yield* rowsOf(source, known, options);
    const found = new FoundColumns();
    const sample: object[] = [];
    let next = await source.next();
    for (; !next.done && sample.length < sampleSize; next = await source.next()) {
      const record = next.value;
      numbered(sample.length + 1, () => found.add(record));
      sample.push(record);
    }
    if (sample.length === 0) return;
    const others = next.done ? undefined : joined([next.value], source);
    if (others === undefined || spoolPath === undefined) {
      return yield* rowsOf(joined(sample, others ?? source), tableOf(found, false), options);
    }
    const spool = await spoolRecords(spoolPath, noting(others, found, sampleSize + 1), sampleSize + 1);
    try {
      yield* rowsOf(joined(sample, spool.records()), tableOf(found, true), options);
    } finally {
      await spool.remove();
    }
  } finally {
    await source.return(undefined);
  }
}
