import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { ConfigurationError, TouchpointError } from "../errors.ts";
import { type Draft, destinationOf, openDraft } from "../runtime/atomic-file.ts";
import { messageOf } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import type { ContactChange } from "./changes-options.ts";
import { fieldHashes, TextStore, type Texts } from "./contact-fields.ts";
import { newHeader, readSnapshot, type StoredContact, snapshotLine } from "./contact-snapshot.ts";

const pageSize = 200;

/** The suffix of a snapshot whose pass is not complete. */
const suffix = ".partial";

/** The names of the fields in which two contacts differ, in alphabetical order. */
const fieldsChanged = (before: Texts, now: Texts): string[] =>
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
export interface Compared {
  readonly stored: StoredContact;
  readonly change: ContactChange | undefined;
}

/**
 * A pass over the list: the contacts of the previous snapshot, which move to the new one page by page, and the draft of
 * the file that replaces it. The contacts that are left in the end were removed.
 */
export class Pass {
  readonly #path: string;
  /** Of the snapshot: contacts that no committed page of this pass has. */
  readonly #before = new TextStore();
  /** Contacts on committed pages of this pass. */
  readonly #now = new TextStore();
  /**
   * Contacts on a page that an earlier run stored and its caller may have taken, without a chance to commit it: their
   * fields were possibly yielded as changed.
   */
  readonly #maybeYielded = new Map<string, Texts>();
  #draft: Draft | undefined;
  /** Of the draft. */
  #written = { bytes: 0, hash: createHash("sha256") };
  /** The page that is stored, and that the caller has not taken yet. */
  #pending: readonly StoredContact[] = [];
  /** Where the list continues. */
  cursor: string | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** The number of known contacts. */
  get size(): number {
    return this.#before.size + this.#now.size;
  }

  /** The number of contacts on committed pages. */
  get seen(): number {
    return this.#now.size;
  }

  static async begin(path: string, query: object): Promise<Pass> {
    const pass = new Pass(resolve(path));
    const before = await readSnapshot(pass.#path, { query }, ({ contacts, isCommitted }) => {
      if (isCommitted) for (const { id, fields } of contacts) pass.#before.set(id, fields);
    });
    if (before?.isComplete === false)
      throw new ConfigurationError(
        `snapshot ${pass.#path} is cut short or damaged: put a copy of it back, or delete it to start over`,
      );
    try {
      await pass.#openDraft(query, before?.header.id ?? null);
      return pass;
    } catch (error) {
      await pass.close();
      throw error;
    }
  }

  async #openDraft(query: object, after: string | null): Promise<void> {
    const path = `${await explained(this.#path, () => destinationOf(this.#path))}${suffix}`;
    const found = await readSnapshot(path, { query, draftAfter: after }, (page) => {
      if (page.isCommitted) this.cursor = page.cursor || undefined;
      for (const contact of page.contacts)
        if (page.isCommitted) this.#see(contact);
        else if (this.#fieldsToTell(contact)?.length !== 0)
          this.#maybeYielded.set(contact.id, contact.fields);
    });
    const keepBytes = found?.wholeBytes;
    this.#draft = await explained(path, () => openDraft(this.#path, { suffix, keepBytes, mode: 0o600 }));
    if (found !== undefined) this.#written = { bytes: found.wholeBytes, hash: found.hash };
    else await this.#append(snapshotLine(newHeader(after, query)));
  }

  #see({ id, fields }: StoredContact): void {
    this.#now.set(id, fields);
    this.#before.delete(id);
    this.#maybeYielded.delete(id);
  }

  /** The fields in which a contact differs from the known one; undefined if there is none. */
  #fieldsToTell({ id, fields }: StoredContact): readonly string[] | undefined {
    const known = this.#now.get(id) ?? this.#before.get(id);
    return known && fieldsChanged(known, fields);
  }

  knows(id: string): boolean {
    return this.#before.has(id) || this.#now.has(id);
  }

  compare(contact: Contact): Compared {
    const stored = { id: String(contact.id), fields: fieldHashes(contact) };
    let fields = this.#fieldsToTell(stored);
    if (fields === undefined) return { stored, change: { kind: "added", contact } };
    // A field that was yielded as changed and has changed back is a change too.
    const maybe = this.#maybeYielded.get(stored.id);
    if (fields.length === 0 && maybe !== undefined) fields = fieldsChanged(maybe, stored.fields);
    return { stored, change: fields.length === 0 ? undefined : { kind: "changed", contact, fields } };
  }

  /** Stores a page before it is yielded: a contact that is gone in the next run is then yielded as removed. */
  async keep(compared: readonly Compared[], cursor: string): Promise<void> {
    this.#pending = compared.map(({ stored }) => stored);
    await this.#append([...this.#pending, { pending: cursor }].map(snapshotLine).join(""));
  }

  /** The caller has taken the page. */
  async commit(): Promise<void> {
    await this.#append(snapshotLine({ committed: true }));
    for (const contact of this.#pending) this.#see(contact);
  }

  /** The list cannot be read from its cursor: the next run reads it from the beginning. */
  async restart(): Promise<void> {
    await this.#append(snapshotLine({ restart: true }));
  }

  /** Contacts of the snapshot that are not in the list any more. */
  *removed(): Generator<readonly ContactChange[]> {
    const told = [...this.#maybeYielded.keys()].filter((id) => !this.knows(id));
    const gone = [...told, ...this.#before.keys()];
    for (let at = 0; at < gone.length; at += pageSize)
      yield gone.slice(at, at + pageSize).map((id) => ({ kind: "removed", id }));
  }

  /** Replaces the snapshot with the draft. */
  async finish(): Promise<void> {
    await this.#append(snapshotLine({ complete: this.#written.hash.copy().digest("hex") }));
    await explained(this.#path, async () => this.#draft?.commit());
    this.#draft = undefined;
  }

  async close(): Promise<void> {
    await this.#draft?.discard();
  }

  async #append(text: string): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    await explained(draft.path, async () => {
      if ((await draft.handle.stat()).size !== this.#written.bytes)
        throw new ConfigurationError(
          `${draft.path}: another run writes into it; give each a snapshot of its own`,
        );
      await draft.handle.writeFile(text);
    });
    this.#written.bytes += Buffer.byteLength(text);
    this.#written.hash.update(text);
  }
}
