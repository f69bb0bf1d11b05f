import { createHash } from "node:crypto";
import { readSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { readLines } from "../runtime/lines.ts";
import { stateKind } from "../runtime/saved-state.ts";
import { isMissingFile, isRecord, isString, messageOf, parsedJson } from "../runtime/values.ts";
import type { Texts } from "./contact-fields.ts";

export const format = "touchpoint-contacts";

/** The first line of a snapshot. */
export interface SnapshotHeader {
  readonly format: typeof format;
  readonly version: 1;
  /** A random id of this snapshot. */
  readonly id: string;
  /** The query of the list. */
  readonly query: object;
  /** A hash of the API key of the run that wrote the snapshot, if that key is a string. */
  readonly key?: string | undefined;
}

/** A contact, as a line of a snapshot. A later line of the same contact replaces it. */
export interface StoredContact {
  readonly id: string;
  /** A hash of each field that has a value. */
  readonly fields: Texts;
}

/** The position of a line in a file. */
export interface LinePosition {
  /** The number of bytes before the line. */
  readonly offset: number;
  /** The number of bytes of the line, without the line break. */
  readonly length: number;
}

/** The text and the position of a line with a contact. */
export interface StoredLine extends LinePosition {
  readonly text: string;
}

/** Reads one contact of an open snapshot. */
export const readLineAt = (descriptor: number, { offset, length }: LinePosition): StoredContact => {
  const bytes = Buffer.allocUnsafe(length);
  readSync(descriptor, bytes, 0, length, offset);
  // A position is stored only for a line that `readSnapshot` has checked or this program has written.
  return JSON.parse(bytes.toString()) as StoredContact;
};

/** Formats a line of a snapshot. The last line has a hash of all lines before it. */
export const snapshotLine = (line: SnapshotHeader | StoredContact | { readonly complete: string }): string =>
  `${JSON.stringify(line)}\n`;

const headers = stateKind<SnapshotHeader>("snapshot", {
  format: (value) => value === format,
  id: isString,
  query: isRecord,
  key: (value) => value === undefined || isString(value),
});

const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    // Opening a pipe would wait for a writer.
    if (!(await stat(path)).isFile()) throw new Error("it is not a file");
    return await open(path);
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new ConfigurationError(`snapshot ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
};

// A file that isn't a snapshot may have no line breaks at all.
const longestLine = { maxLineBytes: 16 * 1024 * 1024 };

const chunkBytes = 64 * 1024;

/** Yields the first bytes of a file. A stream would also close the handle when the iteration ends early. */
async function* chunksOf(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < bytes; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, bytes - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** Yields the lines of a file without their line breaks. Stops before a line without a line break or with a fault. */
async function* linesOf(handle: FileHandle, bytes: number): AsyncGenerator<string, void> {
  for await (const lines of readLines(chunksOf(handle, bytes), longestLine))
    for (const { text, end, fault } of lines) {
      if (end === "" || fault !== undefined) return;
      yield text;
    }
}

/**
 * Reads a snapshot, or the first `bytes` of a draft.
 *
 * @returns `complete` is the hash in the last line, `hash` is the actual hash of the lines before it, and `handle` is
 * the open file, which the caller closes. Undefined if there is no file.
 * @throws ConfigurationError for a file that is not a snapshot, has another query, or has a newer version.
 */
export const readSnapshot = async (
  path: string,
  { query, bytes = Number.POSITIVE_INFINITY }: { readonly query: object; readonly bytes?: number },
  onContact: (contact: StoredContact, line: StoredLine) => void,
) => {
  const handle = await openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    const lines = linesOf(handle, bytes);
    const first = (await lines.next()).value ?? "";
    const header = headers.parse(first, `snapshot ${path}`);
    if (JSON.stringify(header.query) !== JSON.stringify(query))
      throw new ConfigurationError(
        `snapshot ${path} was made with another query, ${JSON.stringify(header.query)}: use that query, or another snapshot path`,
      );
    const hash = createHash("sha256").update(`${first}\n`);
    let complete: unknown;
    let offset = Buffer.byteLength(first) + 1;
    for await (const text of lines) {
      const line = parsedJson(text);
      if (!isRecord(line)) break;
      complete = line.complete;
      if (complete !== undefined) break;
      hash.update(`${text}\n`);
      // A line without these fields is damaged. It changes the hash, so that the caller refuses the snapshot.
      const length = Buffer.byteLength(text);
      if (isString(line.id) && isRecord(line.fields))
        onContact(line as unknown as StoredContact, { text, offset, length });
      offset += length + 1;
    }
    return { ...header, hash, complete, handle };
  } catch (error) {
    await handle.close();
    throw error;
  }
};
