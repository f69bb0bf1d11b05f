import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { parseState, type StateKind } from "../runtime/saved-state.ts";
import { isMissingFile, isRecord, messageOf } from "../runtime/values.ts";
import type { Texts } from "./contact-fields.ts";

export const format = "touchpoint-contacts";

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

/** A contact, as a line of a snapshot. */
export interface StoredContact {
  readonly id: string;
  /** A hash of each field that has a value. */
  readonly fields: Texts;
}

/**
 * The other lines. A page of contacts is stored in two phases: `pending` ends it, before it is yielded, and `committed`
 * follows when the caller has taken it. `restart`: the list is read from its beginning again, and no page is pending.
 * `complete`, a hash of all bytes before it, ends the snapshot.
 */
export type SnapshotMark =
  | { readonly pending: string }
  | { readonly committed: true }
  | { readonly restart: true };

export const snapshotLine = (
  line: SnapshotHeader | StoredContact | SnapshotMark | { readonly complete: string },
): string => `${JSON.stringify(line)}\n`;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const kind: StateKind<SnapshotHeader> = {
  noun: "snapshot",
  fits: (value): value is SnapshotHeader =>
    isRecord(value) && value.format === format && value.version === 1 && isRecord(value.query),
};

const openIfThere = async (path: string): Promise<FileHandle | undefined> => {
  try {
    // Opening a pipe would wait for a writer.
    if (!(await stat(path)).isFile()) throw new Error("it is no file");
    return await open(path);
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new ConfigurationError(`snapshot ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
};

const newline = 0x0a;
const blockBytes = 256 * 1024;
// A file of something else may have no line break at all.
const longestLineBytes = 64 * blockBytes;

/** The lines of a file, each with its newline; a last one without it is left out. */
async function* linesOf(handle: FileHandle): AsyncGenerator<Buffer, void> {
  let rest = Buffer.alloc(0);
  while (rest.length < longestLineBytes) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(blockBytes), 0, blockBytes);
    if (bytesRead === 0) return;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let from = 0;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline, from)) {
      yield rest.subarray(from, end + 1);
      from = end + 1;
    }
    rest = rest.subarray(from);
  }
}

/**
 * Reads the marks of a snapshot, each with the contacts before it, as far as they are whole.
 *
 * @param draftAfter - for a draft: the snapshot that its pass compares with.
 * @returns undefined if there is none, or only a draft without a complete first line, or of another pass.
 * @throws ConfigurationError for a file that is not a snapshot, or of another query or a newer version.
 */
export const readSnapshot = async (
  path: string,
  { query, draftAfter }: { readonly query: object; readonly draftAfter?: string | null },
  onMark: (mark: SnapshotMark, contacts: readonly StoredContact[]) => void,
) => {
  const handle = await openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    const lines = linesOf(handle);
    const first = (await lines.next()).value ?? Buffer.alloc(0);
    if (draftAfter !== undefined && first.length === 0) return undefined;
    const header = parseState(first.toString(), `snapshot ${path}`, kind);
    if (JSON.stringify(header.query) !== JSON.stringify(query))
      throw new ConfigurationError(
        `snapshot ${path} is of another query, ${JSON.stringify(header.query)}: give that one, or another path`,
      );
    if (draftAfter !== undefined && header.after !== draftAfter) return undefined;
    // Of the bytes up to the last mark. What follows it is of a killed run.
    const hash = createHash("sha256").update(first);
    let [wholeBytes, isComplete] = [first.length, false];
    let sinceMark: Buffer[] = [];
    let contacts: StoredContact[] = [];
    for await (const bytes of lines) {
      const line = parse(bytes.toString());
      if (!isRecord(line)) break;
      if (typeof line.complete === "string") {
        isComplete = line.complete === hash.copy().digest("hex");
        break;
      }
      sinceMark.push(bytes);
      if (typeof line.id === "string" && isRecord(line.fields)) {
        // Its fields were just checked.
        contacts.push(line as unknown as StoredContact);
        continue;
      }
      // The other lines of this version; a damaged one changes the hash.
      onMark(line as unknown as SnapshotMark, contacts);
      for (const part of sinceMark) hash.update(part);
      wholeBytes += Buffer.concat(sinceMark).length;
      [sinceMark, contacts] = [[], []];
    }
    return { header, hash, wholeBytes, isComplete };
  } finally {
    await handle.close();
  }
};
