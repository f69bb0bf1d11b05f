import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Texts } from "./contact-fields.ts";
import { readLineAt, type StoredContact, type StoredLine, snapshotLine } from "./contact-snapshot.ts";
import { PackedMap } from "./packed-map.ts";

type Source = "snapshot" | "draft";

const hashBytes = 16;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest().subarray(0, hashBytes);

/**
 * Finds the line of each contact, in the draft of the next snapshot or else in the previous snapshot. A line takes
 * about 90 bytes of memory: a hash and a position. If a contact differs from its line, the old fields are read from the
 * file.
 */
export class KnownLines {
  /**
   * Keyed by contact id: 16 bytes for the hash, 6 for the offset, 4 for the length, and 1 for the source (1: draft).
   */
  readonly #lines = new PackedMap();
  readonly #files = new Map<Source, FileHandle>();
  /** The number of contacts in the draft. They are on processed pages of this pass. */
  draftCount = 0;

  get size(): number {
    return this.#lines.size;
  }

  has(id: string): boolean {
    return this.#lines.get(id) !== undefined;
  }

  /** Sets the file to read the lines of a source from. `close` closes it. */
  open(source: Source, handle: FileHandle | undefined): void {
    if (handle !== undefined) this.#files.set(source, handle);
  }

  add(id: string, { text, offset, length }: StoredLine, source: Source): void {
    if (source === "draft" && this.#lines.get(id)?.[hashBytes + 10] !== 1) this.draftCount += 1;
    const value = Buffer.alloc(hashBytes + 11);
    value.set(hashOf(text));
    value.writeUIntLE(offset, hashBytes, 6);
    value.writeUInt32LE(length, hashBytes + 6);
    value[hashBytes + 10] = source === "draft" ? 1 : 0;
    this.#lines.set(id, value);
  }

  /** The stored fields of a contact; undefined if the contact is not stored. */
  fieldsOf(now: StoredContact): Texts | undefined {
    const value = this.#lines.get(now.id);
    if (value === undefined) return undefined;
    if (value.subarray(0, hashBytes).equals(hashOf(snapshotLine(now).slice(0, -1)))) return now.fields;
    const position = {
      offset: value.readUIntLE(hashBytes, 6),
      length: value.readUInt32LE(hashBytes + 6),
    };
    const file = this.#files.get(value[hashBytes + 10] === 1 ? "draft" : "snapshot");
    if (file === undefined) throw new Error("the file of a known line is not open");
    return readLineAt(file.fd, position).fields;
  }

  /** The ids of contacts that are only in the previous snapshot, not in the draft, in the order of the snapshot. */
  idsOnlyInSnapshot(): readonly string[] {
    const rows: { readonly id: string; readonly offset: number }[] = [];
    for (const [id, value] of this.#lines.entries())
      if (value[hashBytes + 10] === 0) rows.push({ id, offset: value.readUIntLE(hashBytes, 6) });
    return rows.sort((a, b) => a.offset - b.offset).map(({ id }) => id);
  }

  async close(): Promise<void> {
    for (const handle of this.#files.values()) await handle.close();
    this.#files.clear();
  }
}
