import { createHash, randomUUID } from "node:crypto";
import { readSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { isMissingFile, isRecord, messageOf } from "../runtime/values.ts";

const format = "touchpoint-contacts";

/** The first line of a snapshot, as JSON. */
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

export const headerBytes = (header: SnapshotHeader): Buffer => Buffer.from(`${JSON.stringify(header)}\n`);

/** What a snapshot stores of a page, before the page is yielded. */
export interface Frame {
  /** Where the list continues, `""` for its beginning; null in the last frame of a complete snapshot. */
  readonly cursor: string | null;
  /** The frame before this one does not count: the run ended before its page was taken, and the page is read again. */
  readonly isRedo?: boolean;
  /** Names of fields that no earlier frame had. */
  readonly names: readonly string[];
  /** Packed digests, one after the other. */
  readonly digests: Buffer;
}

/** A frame, and the position of its digests in the file. */
export interface PlacedFrame extends Frame {
  /** The page of this frame was taken: the run has written another frame since. */
  readonly isTaken: boolean;
  readonly at: number;
  /** Where the frame ends. */
  readonly end: number;
}

const checksumOf = (payload: Buffer): Buffer => createHash("sha256").update(payload).digest().subarray(0, 8);

const lengthBytes = (length: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
};

/** A frame as bytes: its length, a checksum, the length of its JSON, the JSON, the digests. */
export const packFrame = ({ digests, ...frame }: Frame): Buffer => {
  const json = Buffer.from(JSON.stringify(frame));
  const payload = Buffer.concat([lengthBytes(json.length), json, digests]);
  return Buffer.concat([lengthBytes(payload.length), checksumOf(payload), payload]);
};

/** The digests of a frame, each with its place in the file. */
export function* digestsIn({
  digests,
  at,
}: PlacedFrame): Generator<{ readonly bytes: Buffer; place: number }> {
  for (let from = 0; from < digests.length; ) {
    const to = from + digests.readUInt32LE(from);
    yield { bytes: digests.subarray(from, to), place: at + from };
    from = to;
  }
}

const frameHeadBytes = 12;
const longestHeaderBytes = 64 * 1024;

const readHeader = (path: string, line: string, query: object): SnapshotHeader => {
  const refuse = (what: string): never => {
    throw new ConfigurationError(`snapshot ${path} ${what}`);
  };
  let header: unknown;
  try {
    header = JSON.parse(line);
  } catch {
    // Reported below, together with other invalid JSON.
  }
  if (!isRecord(header) || header.format !== format) return refuse("is damaged, or a file of something else");
  if (header.version !== 1)
    refuse("is of a newer version of this library: update it here, or give another path");
  if (JSON.stringify(header.query) !== JSON.stringify(query))
    refuse(`is of another query, ${JSON.stringify(header.query)}: give that one, or another path`);
  // The fields of this version; format and version were checked.
  return header as unknown as SnapshotHeader;
};

/** A snapshot on disk: complete, or of a pass in progress. */
export class SnapshotFile {
  readonly path: string;
  readonly header: SnapshotHeader;
  readonly #handle: FileHandle;
  /** Where its frames begin. */
  readonly framesAt: number;
  #block = { at: 0, bytes: Buffer.alloc(0) };

  private constructor(path: string, handle: FileHandle, header: SnapshotHeader, framesAt: number) {
    this.path = path;
    this.#handle = handle;
    this.header = header;
    this.framesAt = framesAt;
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
      const end = head.subarray(0, bytesRead).indexOf("\n");
      if (end === -1 && isDraft) {
        await handle.close();
        return undefined;
      }
      const header = readHeader(path, head.toString("utf8", 0, end === -1 ? bytesRead : end), query);
      return new SnapshotFile(path, handle, header, end + 1);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The complete frames in their order. In a complete snapshot, the last one has no cursor. */
  async *frames(): AsyncGenerator<PlacedFrame> {
    let last: PlacedFrame | undefined;
    const taken = ({ isRedo, cursor }: Frame, next?: Frame): boolean =>
      isRedo === true || cursor === null || (next !== undefined && next.isRedo !== true);
    for await (const frame of this.#written()) {
      if (last !== undefined) yield { ...last, isTaken: taken(last, frame) };
      last = frame;
    }
    if (last !== undefined) yield { ...last, isTaken: taken(last) };
  }

  async *#written(): AsyncGenerator<PlacedFrame> {
    const { size } = await this.#handle.stat();
    for (let at = this.framesAt; at + frameHeadBytes <= size; ) {
      const head = await this.#bytes(at, frameHeadBytes);
      const length = head.readUInt32LE(0);
      if (at + frameHeadBytes + length > size) return;
      const payload = await this.#bytes(at + frameHeadBytes, length);
      if (!checksumOf(payload).equals(head.subarray(4))) return;
      const digestsAt = 4 + payload.readUInt32LE(0);
      const frame: Omit<Frame, "digests"> = JSON.parse(payload.toString("utf8", 4, digestsAt));
      at += frameHeadBytes + length;
      const digests = payload.subarray(digestsAt);
      yield { ...frame, digests, at: at - digests.length, end: at, isTaken: true };
      if (frame.cursor === null) return;
    }
  }

  /**
   * The digest at a position. Reads in blocks, because the contacts of a list come in the order in which they were
   * written.
   */
  digestAt(place: number): Buffer {
    const length = this.#cached(place, 4).readUInt32LE(0);
    return this.#cached(place, length);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #cached(at: number, length: number): Buffer {
    const from = at - this.#block.at;
    if (from >= 0 && from + length <= this.#block.bytes.length)
      return this.#block.bytes.subarray(from, from + length);
    const bytes = Buffer.alloc(Math.max(length, 64 * 1024));
    const read = readSync(this.#handle.fd, bytes, 0, bytes.length, at);
    this.#block = { at, bytes: bytes.subarray(0, read) };
    return bytes.subarray(0, length);
  }

  async #bytes(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    await this.#handle.read(bytes, 0, length, at);
    return bytes;
  }
}
