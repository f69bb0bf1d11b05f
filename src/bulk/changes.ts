import { createHash, type Hash, randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Call } from "../call/call.ts";
import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { callRules } from "../options/validation.ts";
import { totalOf } from "../paging/page-size.ts";
import { type PagingOptions, paged } from "../paging/paged.ts";
import { explained, keptDraftOf } from "../runtime/atomic-file.ts";
import { keyHash } from "../runtime/checkpoint.ts";
import { type DraftFile, Resumable } from "../runtime/resumable.ts";
import { must, mustBeFunction, type Rules, readOptions, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import { stateFile, stateKind } from "../runtime/saved-state.ts";
import { isCount, isRecord, isString, isStringOrNull } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { ChangesOptions, ContactChange } from "./changes-options.ts";
import { fieldHashes, type Texts } from "./contact-fields.ts";
import {
  format,
  readSnapshot,
  type SnapshotHeader,
  type StoredContact,
  snapshotLine,
} from "./contact-snapshot.ts";
import { KnownLines } from "./known-lines.ts";
import { ProgressReporter } from "./progress.ts";

const pageSize = 200;

/** The names of the fields in which two contacts differ, in alphabetical order. */
const fieldsChanged = (before: Texts, now: Texts): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => before[name] !== now[name])
    .sort();

/** The progress of a pass. */
interface PassState {
  readonly version: 1;
  /** The id of the previous snapshot, with which the pass compares; null for the first pass. */
  readonly after: string | null;
  /** The cursor from which the list continues; null for its beginning. */
  readonly cursor: string | null;
  /** The length of the draft when this progress was saved. The next run removes the bytes after that. */
  readonly bytes: number;
  /** The hash of the first `bytes` bytes of the draft. */
  readonly hash: string;
  /** Contacts that the pass yielded and the caller may not have processed, each with its yielded fields. */
  readonly begun: readonly (readonly [id: string, fields: Texts])[];
}

const checkpoints = stateKind<PassState>("checkpoint", {
  after: isStringOrNull,
  cursor: isStringOrNull,
  bytes: (value) => isCount(value) && value > 0,
  hash: isString,
  begun: Array.isArray,
});

const hexOf = (hash: Hash): string => hash.copy().digest("hex");

/**
 * A pass over the list. Page by page, it writes the contacts to the draft of the next snapshot. A contact of the
 * previous snapshot that is not in the list at all was removed.
 *
 * A page stays unconfirmed until the caller requests the next one. After a killed run, nobody knows whether the caller
 * has processed the unconfirmed page, so the next run yields that page again.
 */
class Pass {
  readonly #target: DraftFile;
  /** What this run writes into the header of a snapshot. */
  readonly #headerFields: Pick<SnapshotHeader, "query" | "key">;
  readonly work: Resumable<PassState>;
  /** The position of each contact's line in the previous snapshot or in the draft, keyed by contact id. */
  readonly snapshotLines = new KnownLines();
  /** Contacts on unconfirmed pages of this run and of killed runs, with their yielded fields. */
  #unconfirmed = new Map<string, Texts>();
  /** The hash of the draft. */
  #hash = createHash("sha256");
  /** The id of the previous snapshot, with which the pass compares. */
  #previousId: string | null = null;
  /** The hash of the API key of the run that wrote the draft, or the previous snapshot if there is no draft. */
  #keyBefore: string | undefined;

  constructor(snapshot: string, headerFields: Pick<SnapshotHeader, "query" | "key">) {
    const path = resolve(snapshot);
    this.#target = { path, name: `snapshot ${path}`, mode: 0o600 };
    this.#headerFields = headerFields;
    const checkpoint = `${path}.partial.json`;
    this.work = new Resumable<PassState>({
      name: `checkpoint ${checkpoint}`,
      store: stateFile(checkpoint, checkpoints),
      fresh: { version: 1, after: null, cursor: null, bytes: 0, hash: "", begun: [] },
    });
  }

  /** Reads the snapshot, and the progress of a killed run. */
  async begin(): Promise<void> {
    const { path, name } = this.#target;
    const { query } = this.#headerFields;
    const before = await readSnapshot(path, { query }, ({ id }, line) =>
      this.snapshotLines.add(id, line, "snapshot"),
    );
    this.snapshotLines.open("snapshot", before?.handle);
    if (before !== undefined && before.complete !== hexOf(before.hash))
      throw new ConfigurationError(
        `${name} is cut short or damaged. Restore it from a copy. To start over instead, delete the snapshot`,
      );
    this.#previousId = before?.id ?? null;
    this.#keyBefore = before?.key;
    // If the snapshot was deleted or restored since, the saved progress belongs to another pass.
    await this.work.resume(({ after }) => after === this.#previousId);
    if (!this.work.isResumed) return;
    const { bytes, hash, begun } = this.work.state;
    this.#unconfirmed = new Map(begun);
    const draftPath = await explained(name, () => keptDraftOf(path));
    const draft = await readSnapshot(draftPath, { query, bytes }, ({ id }, line) =>
      this.snapshotLines.add(id, line, "draft"),
    );
    await draft?.handle.close();
    if (draft === undefined || hexOf(draft.hash) !== hash)
      this.work.refuse(
        `does not match ${draftPath}, which is missing or damaged. To start over, delete the checkpoint`,
      );
    this.#hash = draft.hash;
    this.#keyBefore = draft.key;
  }

  /**
   * Whether the snapshot may belong to another workspace. A key belongs to one workspace, so the same key means the
   * same workspace. With another or an unknown key, only a contact that is both in the snapshot and in the list shows
   * that the workspace is the same.
   */
  get mayBeForeign(): boolean {
    const { key } = this.#headerFields;
    return this.snapshotLines.size > 0 && (key === undefined || key !== this.#keyBefore);
  }

  /** Opens the draft. */
  async open(): Promise<void> {
    await this.work.openDraft(this.#target, this.work.state.bytes);
    this.snapshotLines.open("draft", await open(await keptDraftOf(this.#target.path)));
    if (this.work.isResumed) return;
    await this.#append([{ format, version: 1, id: randomUUID(), ...this.#headerFields }], null);
  }

  /**
   * Yields the changes on a page. The caller confirms them with its next request.
   *
   * @param cursor - the cursor after the page.
   */
  async *page(
    contacts: readonly Contact[],
    cursor: string | undefined,
  ): AsyncGenerator<readonly ContactChange[]> {
    const changes: ContactChange[] = [];
    const page: StoredContact[] = [];
    for (const contact of contacts) {
      const now = { id: String(contact.id), fields: fieldHashes(contact) };
      page.push(now);
      const previous = this.snapshotLines.fieldsOf(now);
      // Undefined means that the contact is new.
      const changed = previous === undefined ? undefined : fieldsChanged(previous, now.fields);
      // Fields in which the contact differs from what killed runs yielded, and which may have changed back since.
      const yielded = this.#unconfirmed.get(now.id);
      const stale = yielded === undefined ? [] : fieldsChanged(yielded, now.fields);
      const fields = changed && [...new Set([...changed, ...stale])].sort();
      if (fields === undefined) changes.push({ kind: "added", contact });
      else if (fields.length > 0) changes.push({ kind: "changed", contact, fields });
      else continue;
      // Nobody knows which state of a stale field the caller has. An empty hash differs from every state.
      this.#unconfirmed.set(now.id, {
        ...now.fields,
        ...Object.fromEntries(stale.map((name) => [name, ""])),
      });
    }
    if (changes.length > 0) {
      // Save before yielding, because a later run must know what the caller may have processed. Until that run, an
      // added contact may disappear, and a changed field may change back.
      await this.#save({});
      yield changes;
    }
    for (const { id } of page) this.#unconfirmed.delete(id);
    await this.#append(page, cursor || null);
  }

  /**
   * Yields the contacts that are no longer in the list as `removed`: contacts of the previous snapshot, and contacts
   * that a killed run yielded as `added`.
   */
  *removed(): Generator<readonly ContactChange[]> {
    const yielded = [...this.#unconfirmed.keys()].filter((id) => !this.snapshotLines.has(id));
    let page: ContactChange[] = [];
    for (const ids of [yielded, this.snapshotLines.idsOnlyInSnapshot()])
      for (const id of ids) {
        page.push({ kind: "removed", id });
        if (page.length < pageSize) continue;
        yield page;
        page = [];
      }
    if (page.length > 0) yield page;
  }

  /** Makes the next run read the list from its beginning. */
  async restart(): Promise<void> {
    if (this.work.state.bytes > 0) await this.#save({ cursor: null });
  }

  /** Replaces the snapshot with the draft. */
  async finish(): Promise<void> {
    await this.work.append(snapshotLine({ complete: hexOf(this.#hash) }));
    await this.work.finish();
  }

  async #append(lines: readonly (SnapshotHeader | StoredContact)[], cursor: string | null): Promise<void> {
    const texts = lines.map(snapshotLine);
    const text = texts.join("");
    await this.work.append(text);
    let { bytes } = this.work.state;
    for (const [index, line] of lines.entries()) {
      const lineText = texts[index] ?? "";
      const length = Buffer.byteLength(lineText) - 1;
      if ("fields" in line)
        this.snapshotLines.add(line.id, { text: lineText.slice(0, -1), offset: bytes, length }, "draft");
      bytes += length + 1;
    }
    await this.#save({ cursor, bytes, hash: hexOf(this.#hash.update(text)) });
  }

  #save(progress: Partial<PassState>): Promise<void> {
    const { state } = this.work;
    return this.work.save({ ...state, ...progress, after: this.#previousId, begun: [...this.#unconfirmed] });
  }
}

const operation = "contacts.changes";
// If the list could end early, the missing contacts would look removed.
const completeList = { priority: "background", mayBeShort: false } as const;

const rules: Rules = {
  ...callRules,
  snapshot: must("the path of a snapshot", (value) => typeof value === "string" && value !== ""),
  search: must("a text", (value) => typeof value === "string"),
  onProgress: mustBeFunction,
};

/** @throws ValidationError naming every fault of the options. */
export const readChangesOptions = (input: ChangesOptions): ChangesOptions => {
  const options = readOptions(input, rules);
  refuseFaults(operation, ruleFaults(options, rules, { required: ["snapshot"] }));
  return options;
};

/**
 * Yields the changes of a list since a snapshot, in pages. A page counts as processed when the caller requests the next
 * one. Without that request, the next run yields the page again.
 */
export async function* changedContacts(
  options: ChangesOptions,
  call: Call,
): AsyncGenerator<readonly ContactChange[]> {
  const { snapshot, search, onProgress, ...callOptions } = options;
  const query = search === undefined ? {} : { search };
  const pass = new Pass(snapshot, { query, key: keyHash(call.context.settings) });
  const progress = new ProgressReporter(onProgress, undefined, call.clock);
  const work = call.long(operation, { waits: progress });
  const list = (from: PagingOptions) =>
    paged(work, operations.contacts.list, query, { ...callOptions, ...from }, completeList).pages();
  try {
    await pass.begin();
    if (pass.mayBeForeign) await refuseForeign(pass, list({ prefetch: 0 }), snapshot);
    await pass.open();
    let done = pass.snapshotLines.draftCount;
    progress.skip(done);
    for await (const page of list({ cursor: pass.work.state.cursor ?? undefined })) {
      const { data, cursor } = page;
      yield* pass.page(data.filter(isRecord), cursor);
      done += data.length;
      progress.total = totalOf(page);
      progress.update(done);
    }
    yield* pass.removed();
    await pass.finish();
    progress.update(done, true);
  } catch (error) {
    // The saved cursor may cause the same error in the next run, so make that run read the list from its beginning.
    if (error instanceof ResponseValidationError || error instanceof ValidationError) await pass.restart();
    throw error;
  } finally {
    progress.stop();
    await pass.snapshotLines.close();
    await pass.work.leave();
  }
}

/** @throws ConfigurationError if the list contains no contact of the snapshot. */
const refuseForeign = async (
  pass: Pass,
  pages: AsyncIterable<{ readonly data: readonly Contact[] }>,
  snapshot: string,
): Promise<void> => {
  for await (const { data } of pages)
    if (data.some((contact) => isRecord(contact) && pass.snapshotLines.has(String(contact.id)))) return;
  throw new ConfigurationError(
    `snapshot ${snapshot} seems to belong to another workspace: none of its ${pass.snapshotLines.size} contacts is in the list. If all of them were removed, delete the snapshot to start over`,
  );
};
