import { createHash, randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { CallScope } from "../call/scope.ts";
import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { callRules } from "../options/validation.ts";
import { type PagingOptions, paged } from "../paging/paged.ts";
import { type Draft, explained, keptDraftOf, openDraft } from "../runtime/atomic-file.ts";
import { isCallback, must, type Rules, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { ChangesOptions, ContactChange } from "./changes-options.ts";
import { fieldHashes, TextPacker, type Texts } from "./contact-fields.ts";
import {
  format,
  readSnapshot,
  type SnapshotMark,
  type StoredContact,
  snapshotLine,
} from "./contact-snapshot.ts";
import { ProgressReporter } from "./progress.ts";

const pageSize = 200;

/** The names of the fields in which two contacts differ, in alphabetical order. */
const fieldsChanged = (before: Texts, now: Texts): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => before[name] !== now[name])
    .sort();

/**
 * A pass over the list: the contacts of the previous snapshot, which move to the new one page by page, and the draft of
 * the file that replaces it. The contacts that are left in the end were removed.
 *
 * A page is `pending` from before it is yielded until the caller asks for the next one, then `committed`. A killed run
 * leaves its page pending: the caller may have taken it or not, so that the next run yields it again.
 */
class Pass {
  readonly #path: string;
  readonly #name: string;
  /** The fields of each contact, of the previous snapshot and of committed pages, by its id. */
  readonly #known = new Map<string, string>();
  readonly #packer = new TextPacker();
  /** Contacts on committed pages of this pass. */
  readonly #committed = new Set<string>();
  /** Contacts on pending pages, of this run and of killed ones, with the fields that the caller may have taken. */
  readonly #pending = new Map<string, Texts>();
  /** The page that is pending in this run. */
  #page: { readonly contacts: readonly StoredContact[]; readonly cursor: string } | undefined;
  #draft: Draft | undefined;
  /** Of the draft. */
  #hash = createHash("sha256");
  /** Where the list continues. */
  cursor: string | undefined;

  constructor(path: string) {
    this.#path = resolve(path);
    this.#name = `snapshot ${this.#path}`;
  }

  /** The number of known contacts. */
  get size(): number {
    return this.#known.size;
  }

  /** The number of contacts on committed pages. */
  get seen(): number {
    return this.#committed.size;
  }

  /** Reads the snapshot, and how far a killed run has come. */
  async begin(query: object): Promise<void> {
    const apply = this.#apply.bind(this);
    const before = await readSnapshot(this.#path, { query }, apply);
    if (before?.isComplete === false)
      throw new ConfigurationError(
        `${this.#name} is cut short or damaged: put a copy of it back, or delete it to start over`,
      );
    // The pass that wrote the snapshot is complete.
    this.cursor = undefined;
    this.#committed.clear();
    this.#pending.clear();
    const after = before?.header.id ?? null;
    const path = await explained(this.#name, () => keptDraftOf(this.#path));
    const found = await readSnapshot(path, { query, draftAfter: after }, apply);
    const options = { isKept: true, keepBytes: found?.wholeBytes, mode: 0o600 };
    this.#draft = await openDraft(this.#path, this.#name, options);
    if (found !== undefined) this.#hash = found.hash;
    else await this.#append(snapshotLine({ format, version: 1, id: randomUUID(), after, query }));
  }

  /** What a mark means, in a file that is read and in this run. @param contacts - those before it. */
  #apply(mark: SnapshotMark, contacts: readonly StoredContact[]): void {
    if ("pending" in mark) {
      this.#page = { contacts, cursor: mark.pending };
      // One that is as known was not told: what a killed run has told of it still counts.
      for (const contact of contacts)
        if (this.#fieldsToTell(contact)?.length !== 0) this.#pending.set(contact.id, contact.fields);
    } else if ("committed" in mark) {
      this.cursor = this.#page?.cursor || undefined;
      for (const { id, fields } of this.#page?.contacts ?? []) {
        this.#known.set(id, this.#packer.pack(fields));
        this.#committed.add(id);
        this.#pending.delete(id);
      }
    } else this.cursor = undefined;
  }

  /** The fields in which a contact differs from the known one; undefined if there is none. */
  #fieldsToTell({ id, fields }: StoredContact): readonly string[] | undefined {
    const known = this.#known.get(id);
    return known === undefined ? undefined : fieldsChanged(this.#packer.unpack(known), fields);
  }

  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /** Stores a page as pending. Returns the changes that it shows. */
  async pend(contacts: readonly Contact[], cursor: string | undefined): Promise<readonly ContactChange[]> {
    const changes: ContactChange[] = [];
    const stored: StoredContact[] = [];
    for (const contact of contacts) {
      const now = { id: String(contact.id), fields: fieldHashes(contact) };
      stored.push(now);
      const told = this.#fieldsToTell(now);
      // A field that was yielded as changed and has changed back is a change too.
      const taken = this.#pending.get(now.id);
      const fields = told?.length === 0 && taken !== undefined ? fieldsChanged(taken, now.fields) : told;
      if (fields === undefined) changes.push({ kind: "added", contact });
      else if (fields.length > 0) changes.push({ kind: "changed", contact, fields });
    }
    await this.write({ pending: cursor ?? "" }, stored);
    return changes;
  }

  /** Stores a mark, and before it the contacts of the page that it ends. */
  async write(mark: SnapshotMark, contacts: readonly StoredContact[] = []): Promise<void> {
    await this.#append([...contacts, mark].map(snapshotLine).join(""));
    this.#apply(mark, contacts);
  }

  /** Contacts of the snapshot that are not in the list any more. */
  *removed(): Generator<readonly ContactChange[]> {
    const told = [...this.#pending.keys()].filter((id) => !this.knows(id));
    const gone = [...told, ...[...this.#known.keys()].filter((id) => !this.#committed.has(id))];
    for (let at = 0; at < gone.length; at += pageSize)
      yield gone.slice(at, at + pageSize).map((id) => ({ kind: "removed", id }));
  }

  /** Replaces the snapshot with the draft. */
  async finish(): Promise<void> {
    await this.#append(snapshotLine({ complete: this.#hash.copy().digest("hex") }));
    await this.#draft?.commit();
  }

  async close(): Promise<void> {
    await this.#draft?.discard();
  }

  async #append(text: string): Promise<void> {
    await this.#draft?.append(text);
    this.#hash.update(text);
  }
}

const operation = "contacts.changes";

const rules: Rules = {
  ...callRules,
  snapshot: must("the path of a snapshot", (value) => typeof value === "string" && value !== ""),
  search: must("a text", (value) => typeof value === "string"),
  onProgress: isCallback,
};

/**
 * The changes of a list since a snapshot, by pages. A page counts as taken when the next one is requested; until then,
 * the next run yields it again.
 */
export async function* changedContacts(
  options: ChangesOptions,
  call: CallScope,
): AsyncGenerator<readonly ContactChange[]> {
  refuseFaults(operation, ruleFaults(options, rules, { required: ["snapshot"] }));
  const { snapshot, search, onProgress, ...callOptions } = options;
  const query = search === undefined ? {} : { search };
  const pass = new Pass(snapshot);
  const progress = new ProgressReporter(onProgress, undefined, call.clock);
  const scope = call.long(operation, { waits: progress });
  const list = (from: PagingOptions) =>
    paged(scope, operations.contacts.list, query, { ...callOptions, ...from }).pages();
  try {
    await pass.begin(query);
    if (pass.size > 0) await refuseForeign(pass, list({ prefetch: 0 }), snapshot);
    progress.skip(pass.seen);
    let done = pass.seen;
    for await (const { data, total, cursor } of list({ cursor: pass.cursor })) {
      // Stored before it is yielded: a contact that is gone in the next run is then yielded as removed.
      const changes = await pass.pend(data.filter(isRecord), cursor);
      if (changes.length > 0) yield changes;
      await pass.write({ committed: true });
      done += data.length;
      progress.total = total;
      progress.update(done);
    }
    for (const changes of pass.removed()) yield changes;
    await pass.finish();
    progress.update(done, true);
  } catch (error) {
    // If the list cannot be read from its cursor, the next run could not read it either.
    if (error instanceof ResponseValidationError || error instanceof ValidationError)
      await pass.write({ restart: true });
    throw error;
  } finally {
    progress.stop();
    await pass.close();
  }
}

/** A key does not say its workspace; only the contacts identify it. */
const refuseForeign = async (
  pass: Pass,
  pages: AsyncIterable<{ readonly data: readonly Contact[] }>,
  since: string,
): Promise<void> => {
  for await (const { data } of pages)
    if (data.some((contact) => isRecord(contact) && pass.knows(String(contact.id)))) return;
  throw new ConfigurationError(
    `snapshot ${since} is of another workspace: none of its ${pass.size} contacts is in the list; if they were all removed, delete it to start over`,
  );
};
