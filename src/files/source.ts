import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { isBytes, messageOf } from "../runtime/values.ts";

/**
 * Unpacks gzip, one chunk at a time.
 *
 * Ending the iteration early also waits until the source is closed. A source that fails rejects with its own error.
 */
async function* gunzipped(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const closed = pipeline(source, gunzip).catch(() => {
    // Ignore the error here. It also destroys the transform, so the loop below throws it.
  });
  try {
    yield* gunzip;
  } catch (cause) {
    if (!String(Object(cause).code).startsWith("Z_")) throw cause;
    const fault = "it is damaged or was cut short. Copy or download it again";
    throw new ConfigurationError(`${name}: cannot be unpacked (${messageOf(cause)}): ${fault}`, { cause });
  } finally {
    // Leaving the loop has destroyed the transform. That ends the pipeline, but not at once.
    await closed;
  }
}

/**
 * A source: the path of a file, a `file:` URL, a stream, or any async iterable of bytes or strings. For a text, pass
 * `Readable.from([text])`.
 */
export type FileSource = string | URL | Readable | AsyncIterable<Uint8Array | string>;

async function* fileChunks(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  try {
    yield* file;
  } finally {
    // Leaving the loop closes the file, but not at once.
    if (!file.closed) await new Promise<void>((resolve) => file.once("close", resolve));
  }
}

async function* explained(name: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`${name}: cannot be read (${messageOf(cause)})`, { cause });
  }
}

const isHighSurrogate = (text: string): boolean => /[\uD800-\uDBFF]$/.test(text);

async function* asBytes(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  // A chunk may end between the two halves of an emoji. A single half has no UTF-8 form.
  let half = "";
  for await (const chunk of chunks) {
    if (typeof chunk === "string") {
      const text = half + chunk;
      half = isHighSurrogate(text) ? text.slice(-1) : "";
      yield Buffer.from(half === "" ? text : text.slice(0, -1));
    } else if (isBytes(chunk)) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    else throw new ConfigurationError(`the source yielded ${typeof chunk} instead of bytes or strings`);
  }
  if (half !== "") yield Buffer.from(half);
}

const gzipStart = Buffer.from([0x1f, 0x8b]);
// The first bytes must have room for a byte order mark, spaces and the longest start in `otherFiles`.
const longestStart = 64;

/** Reads the first bytes of chunks. Returns them, and a function for all chunks from the beginning. */
const peek = async (chunks: AsyncGenerator<Buffer>) => {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < longestStart) {
    const { value, done } = await chunks.next();
    if (done) break;
    start = start.length === 0 ? value : Buffer.concat([start, value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (start.length > 0) yield start;
      yield* chunks;
    } finally {
      // If the consumer stops at the first bytes, the loop over the other chunks hasn't started, so close the source
      // here.
      await chunks.return(undefined);
    }
  }
  return { start, all };
};

/**
 * Unpacks data that starts like gzip.
 *
 * @throws ConfigurationError for data that is not gzip, if its name ends with `.gz`.
 */
async function* unpacked(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  const { start, all } = await peek(chunks);
  if (start.subarray(0, gzipStart.length).equals(gzipStart)) return yield* gunzipped(all(), name);
  if (!/\.gz$/i.test(name)) return yield* all();
  await chunks.return(undefined);
  const fault = start.length === 0 ? "it is empty" : "it is not gzip";
  throw new ConfigurationError(
    `${name}: cannot be unpacked, because ${fault}. If the file is plain text, rename it`,
  );
}

const asCsv = 'In the spreadsheet, save it as "CSV UTF-8"';
const unpack = "Unpack it first";
const exportIt = "Export the data as CSV";

/** The first tags of web pages. */
const tags =
  "!doctype !-- html head title meta link style script body table thead tbody tr div span center form font br p> h1";

/**
 * The first bytes of files that are not text, although their names may say so. A start in lower case matches any case.
 *
 * This is not a library's list, because `file-type` 21 recognizes no web page and no SYLK file, and each entry
 * needs its own advice.
 */
const otherFiles: readonly (readonly [starts: readonly string[], what: string, advice: string])[] = [
  [["PK\x03\x04"], "an Excel workbook or another ZIP file, not a text file", asCsv],
  [["PK\x05\x06"], "an empty ZIP file, not a text file", asCsv],
  [["\xd0\xcf\x11\xe0"], "an old Excel workbook (.xls), not a text file", asCsv],
  [["7z\xbc\xaf"], "a 7z archive, not a text file", unpack],
  [["Rar!\x1a\x07"], "a RAR archive, not a text file", unpack],
  // The level of compression is part of the start.
  [[..."123456789"].map((level) => `BZh${level}1AY&SY`), "packed by bzip2, not a text file", unpack],
  [["\xfd7zXZ"], "packed by xz, not a text file", unpack],
  [["(\xb5/\xfd"], "packed by zstd, not a text file", unpack],
  [["\x1f\x8b"], "packed by gzip twice, not a text file", unpack],
  [["%PDF-"], "a PDF, not a text file", exportIt],
  [["\x89PNG", "\xff\xd8\xff", "GIF87a", "GIF89a"], "an image, not a text file", exportIt],
  [
    tags.split(" ").map((tag) => `<${tag}`),
    "a web page, not a text file",
    "Download the data itself: the page may ask you to sign in first",
  ],
  [["<?xml"], "an XML file, not a text file", exportIt],
  [["{\\rtf"], "a rich text document (RTF), not a text file", "Save it as plain text"],
  [["SQLite format 3\0"], "an SQLite database, not a text file", "Export the table as CSV"],
  [["PAR1\x15"], "a Parquet file, not a text file", "Convert it to CSV or NDJSON"],
  [["begin:vcard"], "an address book (vCard), not CSV", "Export the address book as CSV"],
  [["begin:vcalendar"], "a calendar, not CSV", "Export the contacts as CSV"],
  [["id;pwxl", "id;pscalc", "id;pcalcooo"], "a SYLK file, not CSV", asCsv],
];

/** The encodings that a byte order mark names. */
const marks: readonly (readonly [mark: string, encoding: string])[] = [
  ["\xef\xbb\xbf", "utf-8"],
  ["\xff\xfe", "utf-16le"],
  ["\xfe\xff", "utf-16be"],
];

/** Whether more than a third of the first bytes are NUL. In ASCII text as UTF-16, half of the bytes are NUL. */
const isUtf16 = (start: Buffer): boolean => {
  const bytes = start.subarray(0, 256);
  return bytes.filter((byte) => byte === 0).length > bytes.length / 3;
};

/**
 * Encodings with one byte per character. Beyond ASCII, their texts are rarely valid UTF-8. A text in another encoding
 * decodes without an error, too, but often to control characters.
 */
const singleByte = /^(windows|iso-8859|koi8|ibm866|mac|x-mac)/;

/**
 * Characters that show that a text is UTF-8. Others, such as `ɮ`, are seldom the only ones in a text, and each has the
 * same bytes as two common characters of another encoding: `É®` in windows-1252.
 */
const likelyInUtf8 =
  /[\u0080-\u017F\u0218-\u021B]|[\u0300-\u047F\u0530-\u0587\u05C0-\u064A\u0660-\u067F\u0800-\uFFFF]/;

/** A source of text. */
interface TextSource {
  readonly name: string;
  /** The encoding that the caller has set. */
  readonly encoding: string | undefined;
  /** Whether the encoding has one byte per character. Set at the first chunk, because a byte order mark decides. */
  isSingleByte: boolean;
}

/**
 * Converts the text of a file to UTF-8.
 *
 * @throws ConfigurationError for a file that is not text, bytes that are invalid in the encoding, or UTF-8 in another
 * encoding.
 */
async function* asUtf8(chunks: AsyncGenerator<Buffer>, source: TextSource): AsyncGenerator<Buffer> {
  const { name, encoding: ownEncoding } = source;
  const { start, all } = await peek(chunks);
  const bytes = start.toString("latin1");
  // A byte order mark takes precedence over the option, which may be set for many files.
  const encoding = marks.find(([mark]) => bytes.startsWith(mark))?.[1] ?? ownEncoding;
  const isWide = encoding?.startsWith("utf-16") === true;
  const trimmed = (
    isWide ? new TextDecoder(encoding).decode(start) : bytes.replace(/^\xef\xbb\xbf/, "")
  ).trimStart();
  const lowered = trimmed.toLowerCase();
  const other = otherFiles.find(([starts]) =>
    starts.some((start) => trimmed.startsWith(start) || lowered.startsWith(start)),
  );
  if (other !== undefined) {
    await chunks.return(undefined);
    throw new ConfigurationError(`${name} is ${other[1]}. ${other[2]}`);
  }
  if (encoding === undefined && isUtf16(start)) {
    await chunks.return(undefined);
    throw new ConfigurationError(
      `${name} is not UTF-8 text: it has NUL bytes. If it is UTF-16, set the encoding to utf-16le or utf-16be (for contacts import: --encoding utf-16le)`,
    );
  }
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return yield* all();
  // The check of the options ensures that this encoding exists.
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (bytes?: Buffer): Buffer => {
    try {
      // Use `stream` even for a single chunk: without it, Node 20.20 reads windows-1252 as Latin-1.
      return Buffer.from(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch (cause) {
      throw new ConfigurationError(`${name} is not valid ${encoding} text`, { cause });
    }
  };
  source.isSingleByte = singleByte.test(decoder.encoding);
  /** Decodes as UTF-8 until the first character that shows UTF-8, or bytes that are invalid in UTF-8. */
  let utf8 = source.isSingleByte ? new TextDecoder("utf-8", { fatal: true }) : undefined;
  const isUtf8 = (chunk: Buffer): boolean => {
    try {
      return likelyInUtf8.test(utf8?.decode(chunk, { stream: true }) ?? "");
    } catch {
      utf8 = undefined;
      return false;
    }
  };
  for await (const chunk of all()) {
    if (isUtf8(chunk))
      throw new ConfigurationError(
        `${name} is UTF-8 text, not ${encoding}. Remove the encoding (for contacts import: --encoding)`,
      );
    yield decode(chunk);
  }
  yield decode();
}

/** The path of a file named by a string or a `file:` URL; undefined for anything else. */
export const pathOf = (file: unknown): string | undefined => {
  if (typeof file === "string") return file;
  return file instanceof URL ? fileURLToPath(file) : undefined;
};

// A path may start with brackets, such as [id]/a.csv or [[...id]]/a.csv, but not with a JSON object or a list of them.
const looksLikeText = /[\r\n]|^\s*(\[\s*["{]|\{\s*")/;

/**
 * The path of a source; undefined for a stream or an iterable.
 *
 * @throws ConfigurationError for the text of a file. The error does not contain the text, which may be personal.
 */
export const sourcePath = (source: unknown): string | undefined => {
  if (typeof source !== "string" || !looksLikeText.test(source)) return pathOf(source);
  throw new ConfigurationError(
    "the source is the text of a file, not its path. Pass a path, or for text Readable.from([text]) of node:stream",
  );
};

/**
 * Converts any source to chunks. Files are opened at the first chunk, and closed when the iteration ends.
 *
 * @param options - `name` in error messages: by default the path or `input`. `encoding`: by default UTF-8. A byte order
 * mark at the start of the data takes precedence.
 * @returns `mayBeMisread`: whether a wrong choice of the encoding would show in control characters. Known from the first
 * chunk on.
 */
export const openSource = (
  source: FileSource,
  { name: ownName, encoding }: { readonly name?: string | undefined; readonly encoding?: string | undefined },
): {
  readonly name: string;
  readonly chunks: AsyncIterable<Buffer>;
  readonly mayBeMisread: () => boolean;
} => {
  const path = sourcePath(source);
  const name = ownName ?? path ?? "input";
  const textSource: TextSource = { name, encoding, isSingleByte: false };
  const opened = { name, mayBeMisread: () => textSource.isSingleByte };
  const text = (chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> =>
    asUtf8(unpacked(chunks, name), textSource);
  if (path !== undefined) return { ...opened, chunks: explained(name, text(fileChunks(path))) };
  // The value is not a string or URL, so it is a stream or an iterable. The types exclude anything else.
  const stream = source as AsyncIterable<Uint8Array | string>;
  if (typeof stream?.[Symbol.asyncIterator] === "function")
    return { ...opened, chunks: text(asBytes(stream)) };
  throw new ConfigurationError("the source must be a path, a file: URL, a stream or an async iterable");
};
