import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { readLines } from "../runtime/lines.ts";
import { parseState, type StateKind } from "../runtime/saved-state.ts";
import { isMissingFile, isRecord, messageOf, parsedJson } from "../runtime/values.ts";
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

// A file of something else may have no line break at all.
const longestLine = { maxLineBytes: 16 * 1024 * 1024 };

/** The lines of a file, without their ends; a last one without an end is left out. */
async function* linesOf(handle: FileHandle): AsyncGenerator<string, void> {
  for await (const lines of readLines(handle.createReadStream({ autoClose: false }), longestLine))
    for (const { text, end, fault } of lines) {
      if (end === "" || fault !== undefined) return;
      yield text;
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
    const first = (await lines.next()).value ?? "";
    if (draftAfter !== undefined && first === "") return undefined;
    const header = parseState(first, `snapshot ${path}`, kind);
    if (JSON.stringify(header.query) !== JSON.stringify(query))
      throw new ConfigurationError(
        `snapshot ${path} is of another query, ${JSON.stringify(header.query)}: give that one, or another path`,
      );
    if (draftAfter !== undefined && header.after !== draftAfter) return undefined;
    // Of the bytes up to the last mark. What follows it is of a killed run.
    const hash = createHash("sha256").update(`${first}\n`);
    let [wholeBytes, isComplete] = [Buffer.byteLength(first) + 1, false];
    let sinceMark = "";
    let contacts: StoredContact[] = [];
    for await (const text of lines) {
      const line = parsedJson(text);
      if (!isRecord(line)) break;
      if (typeof line.complete === "string") {
        isComplete = line.complete === hash.copy().digest("hex");
        break;
      }
      sinceMark += `${text}\n`;
      if (typeof line.id === "string" && isRecord(line.fields)) {
        // Its fields were just checked.
        contacts.push(line as unknown as StoredContact);
        continue;
      }
      // The other lines of this version; a damaged one changes the hash.
      onMark(line as unknown as SnapshotMark, contacts);
      hash.update(sinceMark);
      wholeBytes += Buffer.byteLength(sinceMark);
      [sinceMark, contacts] = ["", []];
    }
    return { header, hash, wholeBytes, isComplete };
  } finally {
    await handle.close();
  }
};
