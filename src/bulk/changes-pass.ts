import { resolve } from "node:path";
import { ConfigurationError, TouchpointError } from "../errors.ts";
import { type Draft, destinationOf, openDraft } from "../runtime/atomic-file.ts";
import { isRecord, messageOf } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import type { ContactChange } from "./changes-options.ts";
import { fieldHashes } from "./contact-fields.ts";
import { newHeader, SnapshotFile, type StoredContact, snapshotLine } from "./contact-snapshot.ts";

const pageSize = 200;

/** The suffix of a snapshot whose pass is not complete. */
const suffix = ".partial";

type Fields = StoredContact["fields"];

/** The names of the fields in which two contacts differ, in alphabetical order. */
const fieldsChanged = (before: Fields, now: Fields): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => before[name] !== now[name])
    .sort();

/** An error of the file system, with the path that it is about. */
const explained = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof TouchpointError) throw cause;
    throw new ConfigurationError(`snapshot ${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
};

/** A contact to store, and its change. */
export interface Compared<C extends Contact> {
  readonly stored: StoredContact;
  readonly change: ContactChange<C> | undefined;
}

/**
 * A pass over the list: the previous snapshot, and the draft of the one that replaces it.
 *
 * For each contact, memory holds the place of its newest line: in the snapshot, or, above the snapshot's size, in the
 * draft. The latter means that a page of this pass with the contact is committed.
 */
export class Pass<C extends Contact> {
  readonly #path: string;
  readonly #places = new Map<string, number>();
  #before: SnapshotFile | undefined;
  /** Where places in the draft start. */
  #beforeBytes = 0;
  #draft: Draft | undefined;
  #written: SnapshotFile | undefined;
  #writtenBytes = 0;
  /** The page that is stored, and that the caller has not taken yet. */
  #pending: { readonly id: string; readonly place: number }[] = [];
  /**
   * Contacts on a page that an earlier run stored and its caller may have taken, without a chance to commit it: their
   * fields were possibly yielded as changed.
   */
  readonly #maybeYielded = new Map<string, Fields>();
  /** Contacts on committed pages. */
  seen = 0;
  /** Where the list continues. */
  cursor: string | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** The number of known contacts. */
  get size(): number {
    return this.#places.size;
  }

  static async begin<C extends Contact>(path: string, query: object): Promise<Pass<C>> {
    const pass = new Pass<C>(resolve(path));
    try {
      await pass.#readBefore(query);
      await pass.#openDraft(query);
      return pass;
    } catch (error) {
      await pass.close();
      throw error;
    }
  }

  async #readBefore(query: object): Promise<void> {
    const before = await SnapshotFile.open(this.#path, query);
    this.#before = before;
    if (before === undefined) return;
    for await (const { contacts, isCommitted } of before.pages())
      if (isCommitted) for (const { id, place } of contacts) this.#places.set(id, place);
    this.#beforeBytes = before.wholeBytes;
    if (!before.isComplete)
      throw new ConfigurationError(
        `snapshot ${this.#path} is cut short or damaged: put a copy of it back, or delete it to start over`,
      );
  }

  async #openDraft(query: object): Promise<void> {
    const path = `${await explained(this.#path, () => destinationOf(this.#path))}${suffix}`;
    const after = this.#before?.header.id ?? null;
    let found = await SnapshotFile.open(path, query, true);
    if (found !== undefined && found.header.after !== after) {
      // It belongs to a pass that compared with another snapshot.
      await found.close();
      found = undefined;
    }
    this.#written = found;
    for await (const { contacts, cursor, isCommitted } of found?.pages() ?? []) {
      if (isCommitted) this.cursor = cursor || undefined;
      for (const { id, place, fields } of contacts)
        if (isCommitted) this.#see(id, place);
        else if (this.#isNews(id, fields)) this.#maybeYielded.set(id, fields);
    }
    const keepBytes = found?.wholeBytes;
    this.#draft = await explained(path, () => openDraft(this.#path, { suffix, keepBytes, mode: 0o600 }));
    this.#writtenBytes = keepBytes ?? 0;
    if (found !== undefined) return;
    await this.#append(snapshotLine(newHeader(after, query)));
    this.#written = await SnapshotFile.open(path, query);
  }

  #see(id: string, place: number): void {
    const known = this.#places.get(id);
    if (known === undefined || known < this.#beforeBytes) this.seen += 1;
    this.#places.set(id, this.#beforeBytes + place);
    this.#maybeYielded.delete(id);
  }

  #isNews(id: string, fields: Fields): boolean {
    const known = this.#stored(id);
    return known === undefined || fieldsChanged(known.fields, fields).length > 0;
  }

  #stored(id: string): StoredContact | undefined {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    return place < this.#beforeBytes
      ? this.#before?.contactAt(place)
      : this.#written?.contactAt(place - this.#beforeBytes);
  }

  knows(contact: unknown): boolean {
    return isRecord(contact) && this.#places.has(String(contact.id));
  }

  compare(contact: C): Compared<C> {
    const stored = { id: String(contact.id), fields: fieldHashes(contact) };
    const known = this.#stored(stored.id);
    if (known === undefined) return { stored, change: { kind: "added", contact } };
    let fields = fieldsChanged(known.fields, stored.fields);
    // A field that was yielded as changed and has changed back is a change too.
    const maybe = this.#maybeYielded.get(stored.id);
    if (fields.length === 0 && maybe !== undefined) fields = fieldsChanged(maybe, stored.fields);
    return { stored, change: fields.length === 0 ? undefined : { kind: "changed", contact, fields } };
  }

  /** Stores a page before it is yielded: a contact that is gone in the next run is then yielded as removed. */
  async keep(compared: readonly Compared<C>[], cursor: string): Promise<void> {
    this.#pending = [];
    let text = "";
    let place = this.#writtenBytes;
    for (const { stored } of compared) {
      const line = snapshotLine(stored);
      this.#pending.push({ id: stored.id, place });
      place += Buffer.byteLength(line);
      text += line;
    }
    await this.#append(text + snapshotLine({ pending: cursor }));
  }

  /** The caller has taken the page. */
  async commit(): Promise<void> {
    await this.#append(snapshotLine({ committed: true }));
    for (const { id, place } of this.#pending) this.#see(id, place);
    this.#pending = [];
  }

  /** The list cannot be read from its cursor: the next run reads it from the beginning. */
  async restart(): Promise<void> {
    await this.#append(snapshotLine({ restart: true }));
  }

  /** Contacts of the snapshot that are not in the list any more. */
  *removed(): Generator<readonly ContactChange<C>[]> {
    const gone: ContactChange<C>[] = [];
    for (const id of this.#maybeYielded.keys()) if (!this.#places.has(id)) gone.push({ kind: "removed", id });
    for (const [id, place] of this.#places) if (place < this.#beforeBytes) gone.push({ kind: "removed", id });
    for (let at = 0; at < gone.length; at += pageSize) yield gone.slice(at, at + pageSize);
  }

  /** Replaces the snapshot with the draft. */
  async finish(): Promise<void> {
    await this.#append(snapshotLine({ complete: this.#written?.hash.copy().digest("hex") ?? "" }));
    // Some systems cannot rename an open file.
    await this.#before?.close();
    await this.#written?.close();
    await explained(this.#path, async () => this.#draft?.commit());
    this.#draft = undefined;
  }

  async close(): Promise<void> {
    await this.#before?.close();
    await this.#written?.close();
    await this.#draft?.discard();
  }

  async #append(text: string): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    await explained(draft.path, async () => {
      if ((await draft.handle.stat()).size !== this.#writtenBytes)
        throw new ConfigurationError(
          `${draft.path}: another run writes into it; give each a snapshot of its own`,
        );
      await draft.handle.writeFile(text);
    });
    this.#writtenBytes += Buffer.byteLength(text);
    // The header was hashed when the draft was opened.
    this.#written?.hash.update(text);
  }
}
