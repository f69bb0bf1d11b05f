import { createHash, type Hash, randomUUID } from "node:crypto";
import { readSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { isMissingFile, isRecord, messageOf } from "../runtime/values.ts";

const format = "touchpoint-contacts";

/** The first line of a snapshot. */
export interface SnapshotHeader {
  readonly format: typeof format;
  readonly version: 1;
  /** Random: identifies this snapshot. */
  readonly id: string;
  /** The snapshot that the pass compares with; null for the first. */
  readonly after: string | null;
  /** The query of the list. */
  readonly query: object;
}

export const newHeader = (after: string | null, query: object): SnapshotHeader => ({
  format,
  version: 1,
  id: randomUUID(),
  after,
  query,
});

/** A contact, as a line of a snapshot. */
export interface StoredContact {
  readonly id: string;
  /** A hash of each field that has a value, by the field's name. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * The other lines. A page of contacts is stored in two phases: `pending` ends it, before it is yielded, and `committed`
 * follows when the caller has taken it. `restart`: the list is read from its beginning again, and no page is pending.
 * `complete`, a hash of all bytes before it, ends the snapshot.
 */
export type SnapshotMark =
  | { readonly pending: string }
  | { readonly committed: true }
  | { readonly restart: true }
  | { readonly complete: string };

/** A page of a snapshot. */
export interface StoredPage {
  readonly contacts: readonly (StoredContact & { readonly place: number })[];
  /** Where the list continues after it; `""` for its beginning. */
  readonly cursor: string;
  /** False: the run ended before the caller had taken it, so that a later run reads it again. */
  readonly isCommitted: boolean;
}

export const snapshotLine = (line: SnapshotHeader | StoredContact | SnapshotMark): string =>
  `${JSON.stringify(line)}\n`;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isContact = (line: Readonly<Record<string, unknown>>): boolean =>
  typeof line.id === "string" && isRecord(line.fields);

const headerFrom = (path: string, line: string, query: object): SnapshotHeader => {
  const refuse = (what: string): never => {
    throw new ConfigurationError(`snapshot ${path} ${what}`);
  };
  const header = parse(line);
  if (!isRecord(header) || header.format !== format) return refuse("is damaged, or a file of something else");
  if (header.version !== 1)
    refuse("is of a newer version of this library: update it here, or give another path");
  if (JSON.stringify(header.query) !== JSON.stringify(query))
    refuse(`is of another query, ${JSON.stringify(header.query)}: give that one, or another path`);
  // The fields of this version; format and version were checked.
  return header as unknown as SnapshotHeader;
};

const newline = 0x0a;
const longestHeaderBytes = 64 * 1024;
const blockBytes = 64 * 1024;

/** A snapshot on disk, as NDJSON: complete, or the draft of a pass in progress. */
export class SnapshotFile {
  readonly path: string;
  readonly header: SnapshotHeader;
  readonly #handle: FileHandle;
  /** Of the bytes up to the last mark. */
  readonly hash: Hash = createHash("sha256");
  /** The end of the last mark. What follows it is of a killed run. */
  wholeBytes: number;
  isComplete = false;
  #block = { at: 0, bytes: Buffer.alloc(0) };

  private constructor(path: string, handle: FileHandle, header: SnapshotHeader, headerLine: Buffer) {
    this.path = path;
    this.#handle = handle;
    this.header = header;
    this.wholeBytes = headerLine.length;
    this.hash.update(headerLine);
  }

  /**
   * Undefined if there is none, or a draft without a complete first line.
   *
   * @throws ConfigurationError for a file that is not a snapshot, or of another query or a newer version.
   */
  static async open(path: string, query: object, isDraft = false): Promise<SnapshotFile | undefined> {
    let handle: FileHandle;
    try {
      // Opening a pipe would wait for a writer.
      if (!(await stat(path)).isFile()) throw new Error("it is no file");
      handle = await open(path);
    } catch (cause) {
      if (isMissingFile(cause)) return undefined;
      throw new ConfigurationError(`snapshot ${path} cannot be read: ${messageOf(cause)}`, { cause });
    }
    try {
      const head = Buffer.alloc(longestHeaderBytes);
      const { bytesRead } = await handle.read(head, 0, head.length, 0);
      const line = head.subarray(0, head.subarray(0, bytesRead).indexOf(newline) + 1);
      if (line.length === 0 && isDraft) {
        await handle.close();
        return undefined;
      }
      return new SnapshotFile(path, handle, headerFrom(path, line.toString(), query), line);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Its pages in their order, as far as they are whole. Read them once: this fills the fields above. */
  async *pages(): AsyncGenerator<StoredPage> {
    let contacts: StoredPage["contacts"][number][] = [];
    let pending: StoredPage | undefined;
    const sinceMark: Buffer[] = [];
    for await (const { bytes, place } of this.#lines()) {
      const line = parse(bytes.toString());
      if (!isRecord(line)) break;
      sinceMark.push(bytes);
      if (isContact(line)) {
        // Its fields were just checked.
        contacts.push({ ...(line as unknown as StoredContact), place });
        continue;
      }
      if (typeof line.complete === "string") {
        this.isComplete = line.complete === this.hash.copy().digest("hex");
        break;
      }
      if (pending !== undefined) yield { ...pending, isCommitted: line.committed === true };
      pending = undefined;
      if (typeof line.pending === "string") pending = { contacts, cursor: line.pending, isCommitted: false };
      if (line.restart === true) yield { contacts: [], cursor: "", isCommitted: true };
      contacts = [];
      for (const part of sinceMark.splice(0)) this.hash.update(part);
      this.wholeBytes = place + bytes.length;
    }
    if (pending !== undefined) yield pending;
  }

  /**
   * The contact at a place. Reads in blocks, because the contacts of a list come in the order in which they were
   * written.
   */
  contactAt(place: number): StoredContact {
    const from = place - this.#block.at;
    const end = from >= 0 ? this.#block.bytes.indexOf(newline, from) : -1;
    if (end >= 0) return JSON.parse(this.#block.bytes.toString("utf8", from, end));
    for (let length = blockBytes; ; length *= 2) {
      const bytes = Buffer.alloc(length);
      const read = readSync(this.#handle.fd, bytes, 0, length, place);
      this.#block = { at: place, bytes: bytes.subarray(0, read) };
      if (this.#block.bytes.includes(newline)) return this.contactAt(place);
      if (read < length) throw new ConfigurationError(`snapshot ${this.path} was cut by another program`);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** The lines after the header, each with its newline; a last one without it is left out. */
  async *#lines(): AsyncGenerator<{ readonly bytes: Buffer; readonly place: number }> {
    let place = this.wholeBytes;
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.alloc(4 * blockBytes);
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, place + rest.length);
      if (bytesRead === 0) return;
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let from = 0;
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline, from)) {
        yield { bytes: rest.subarray(from, end + 1), place: place + from };
        from = end + 1;
      }
      place += from;
      rest = rest.subarray(from);
    }
  }
}
