import { rm } from "node:fs/promises";
import { ValidationError } from "../errors.ts";
import { isPlainObject, messageOf } from "../runtime/values.ts";
import { cellOf } from "./csv-cell.ts";
import { joinPath, leavesOf, setAt } from "./dotted-path.ts";
import { readNdjson } from "./read-ndjson.ts";
import { openScratch } from "./target.ts";
import { type Piece, writePieces } from "./write-pieces.ts";

const isJson = (value: unknown): boolean =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  value === null ||
  Number.isFinite(value) ||
  (Array.isArray(value) && value.every(isJson));

const asJson = (cell: string | number | bigint): string | number =>
  typeof cell === "bigint" && Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);

/** The record, with every value that has no exact JSON form replaced by the text of its cell. */
const asCells = (record: object): object => {
  const cells: Record<string, unknown> = {};
  if (!isPlainObject(record)) return cells;
  for (const [[first, ...rest], value] of leavesOf(record)) {
    // The path of a leaf has at least one key.
    const keys: [string, ...string[]] = [first ?? "", ...rest];
    if (value !== undefined)
      setAt(cells, keys, isJson(value) ? value : asJson(cellOf(value, joinPath(keys))));
  }
  return cells;
};

/** Records that are stored in a file until all of them have been read. */
export interface Spool {
  records(): AsyncIterable<object>;
  remove(): Promise<void>;
}

/**
 * Stores records.
 *
 * @param first - the number of the first record, for error messages.
 * @throws ValidationError for a record that cannot be written; it names its number. The file is then deleted.
 */
export const spoolRecords = async (
  path: string,
  records: AsyncIterable<object>,
  first: number,
): Promise<Spool> => {
  const remove = () => rm(path, { force: true });
  async function* pieces(): AsyncGenerator<Piece> {
    let number = first;
    for await (const record of records) {
      try {
        yield { text: `${JSON.stringify(asCells(record))}\n`, isRecord: true };
      } catch (cause) {
        throw new ValidationError(`record ${number}: ${messageOf(cause)}`, { cause });
      }
      number += 1;
    }
  }
  try {
    await writePieces(await openScratch(path), pieces(), {});
  } catch (error) {
    await remove();
    throw error;
  }
  // A written record is not refused for a long line.
  const options = { maxLineBytes: Number.MAX_SAFE_INTEGER, gzip: false };
  return { records: () => readNdjson(path, options), remove };
};
