import { stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { CsvRows, type Row } from "./csv-rows.ts";
import { readLines } from "./lines.ts";
import { openSource } from "./source.ts";

/** The complete part of a CSV file: its header, and the bytes up to the end of the last complete record. */
export interface WholeCsv {
  readonly bytes: number;
  readonly header: Row | undefined;
}

// Only lengths matter here, so a long line of an existing file is accepted.
const anyLength = Number.MAX_SAFE_INTEGER;

const existingChunks = async (path: string): Promise<AsyncIterable<Buffer> | undefined> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new ConfigurationError(`${path}: append needs a regular file`);
  return openSource(path, {}).chunks;
};

/** The bytes up to the end of the last line that has its newline; 0 for a file that is missing. */
export const wholeNdjsonBytes = async (path: string): Promise<number> => {
  let bytes = 0;
  for await (const lines of readLines((await existingChunks(path)) ?? noChunks(), anyLength)) {
    for (const line of lines) bytes = line.endsAt ?? bytes;
  }
  return bytes;
};

/** Reads a file to the end of its last complete record: a line break inside a quoted cell does not end a record. */
export const wholeCsv = async (path: string, delimiter: string): Promise<WholeCsv> => {
  let whole: WholeCsv = { bytes: 0, header: undefined };
  const reader = new CsvRows({ name: path, delimiter, maxLineBytes: anyLength });
  for await (const rows of reader.read((await existingChunks(path)) ?? noChunks())) {
    for (const row of rows) {
      if (reader.isWhole(row)) whole = { bytes: row.to, header: whole.header ?? row };
    }
  }
  return whole;
};

async function* noChunks(): AsyncGenerator<Buffer> {}
