import { closeSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { constants, gunzipSync } from "node:zlib";
import type { Options } from "./args.ts";
import { type Request, UsageError } from "./command.ts";

type Format = "csv" | "ndjson";

export const formatOption = (stream: "input" | "output"): Options => ({
  "--format <csv|ndjson>": `the format of the ${stream}; by default, the ending of the file name sets it, and - is ndjson`,
});

export const delimiterOption: Options = {
  "--delimiter <c>": "the character between the cells of a CSV file; tab for a tab",
};

/** The options for files that other systems wrote. */
export const foreignFileOptions: Options = {
  "--map <column=field>...":
    "how to read the columns of the file:\n" +
    '"Email Address=email" reads a column as a field\n' +
    '"First Name+Last Name=name" joins columns\n' +
    '"Tags=" leaves a column out\n' +
    '"*=" leaves out all other columns\n' +
    "@columns.json reads these entries from a JSON file",
  "--types <field=type,...>":
    "the types of custom fields: score=number,zip=text (text, number, boolean, list)",
  "--encoding <name>":
    "the encoding of the file, such as windows-1252; default UTF-8, or UTF-16 with a byte order mark",
  "--skip-lines <n>": "the number of lines above the header of a CSV file",
};

/** @throws UsageError for an invalid character. */
export const delimiterOf = (request: Pick<Request, "values">, format: Format): string | undefined => {
  const text = request.values.delimiter;
  if (text === undefined) return undefined;
  if (format !== "csv") throw new UsageError("--delimiter works only with CSV");
  const delimiter = text === "tab" || text === "\\t" ? "\t" : text;
  if (delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new UsageError(`--delimiter must be one character, or tab, got "${text}"`);
};

/** The format of a file: `--format`, otherwise the ending of its name; undefined for an unknown ending. */
const knownFormatOf = (path: string, { values: { format } }: Pick<Request, "values">): Format | undefined => {
  if (format === "csv" || format === "ndjson") return format;
  if (format !== undefined) throw new UsageError(`--format must be csv or ndjson, got "${format}"`);
  if (path === "-" || /\.(ndjson|jsonl)(\.gz)?$/i.test(path)) return "ndjson";
  return /\.(csv|tsv|txt)(\.gz)?$/i.test(path) ? "csv" : undefined;
};

/** The format of a file to write. @throws UsageError for a name with an unknown ending. */
export const formatOf = (path: string, request: Pick<Request, "values">): Format => {
  const format = knownFormatOf(path, request);
  if (format !== undefined) return format;
  throw new UsageError(
    `${path}: the file name must end in .csv, .tsv, .txt or .ndjson, optionally followed by .gz`,
  );
};

/**
 * The format of a file to read. A .json file may have one record per line, as mongoexport writes it. Any other file is
 * CSV: the reader recognizes workbooks and other files that must be converted first.
 */
export const inputFormatOf = (path: string, request: Pick<Request, "values">): Format =>
  knownFormatOf(path, request) ?? (/\.json(\.gz)?$/i.test(path) ? "ndjson" : "csv");

/**
 * Checks that the paths of a command differ, before the command writes to one of them.
 *
 * @param files - the paths, keyed by the name for the error message. A path can be undefined or `-`.
 * @throws UsageError if two of them are the same path.
 */
export const assertDistinct = (files: Readonly<Record<string, string | undefined>>): void => {
  const names = new Map<string, string>();
  for (const [name, path] of Object.entries(files)) {
    if (path === undefined || path === "-") continue;
    const other = names.get(resolve(path));
    if (other !== undefined)
      throw new UsageError(`${name} and ${other} must be different files, but both are ${path}`);
    names.set(resolve(path), name);
  }
};

const headBytes = 16 * 1024;
/** Encodings with the first two bytes of their byte order mark. */
const marks = [
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
] as const;

/** The first lines of a file, for an error message. The file can be gzipped, and in another encoding than UTF-8. */
export const firstLinesOf = (path: string, encoding: string | undefined): readonly string[] => {
  const bytes = Buffer.alloc(headBytes);
  const file = openSync(path, "r");
  const read = bytes.subarray(0, readSync(file, bytes));
  closeSync(file);
  const isGzip = read[0] === 0x1f && read[1] === 0x8b;
  const plain = isGzip ? gunzipSync(read, { finishFlush: constants.Z_SYNC_FLUSH }) : read;
  const mark = marks.find(([, first, second]) => plain[0] === first && plain[1] === second);
  const text = new TextDecoder(mark?.[0] ?? encoding).decode(plain);
  return text.split(/\r\n|\n|\r/).slice(0, 20);
};
