import { resolve } from "node:path";
import { ConfigurationError, ResponseValidationError, TouchpointError, ValidationError } from "../errors.ts";
import { callFaults } from "../options/validation.ts";
import { type Draft, destinationOf, openDraft } from "../runtime/atomic-file.ts";
import { isRecord, messageOf, unknownKeys } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import type { ChangesContext, ChangesOptions, ContactChange } from "./changes-options.ts";
import { digestOf, FieldNames, fieldsChanged, packDigest, packedId, unpackDigest } from "./contact-digest.ts";
import { digestsIn, headerBytes, newHeader, packFrame, SnapshotFile } from "./contact-snapshot.ts";
import { HashTable } from "./hash-table.ts";
import { ProgressReporter } from "./progress.ts";
import { WaitTracker } from "./waits.ts";

const operation = "contacts.changes";
const pageSize = 200;

/** The suffix of a snapshot whose pass is not complete. */
const suffix = ".partial";

/** An error of the file system, with the path that it is about. */
const explained = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof TouchpointError) throw cause;
    throw new ConfigurationError(`snapshot ${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
};

/** A packed digest, and the change of its contact. */
interface Compared<C extends Contact> {
  readonly bytes: Buffer;
  readonly id: string;
  readonly change: ContactChange<C> | undefined;
}

/**
 * A pass over the list: the previous snapshot, and the draft of the one that replaces it.
 *
 * For each contact, memory holds the position of its last digest: in the snapshot, or, above the snapshot's size, in
 * the draft. The latter means that this pass has seen the contact.
 */
class Pass<C extends Contact> {
  readonly #since: string;
  readonly #names = new FieldNames();
  #namesWritten = 0;
  readonly #places = new HashTable();
  #before: SnapshotFile | undefined;
  /** Where positions in the draft start. */
  #beforeBytes = 0;
  /** Contacts of the snapshot that this pass has not seen. */
  #unseen = 0;
  #draft: Draft | undefined;
  #written: SnapshotFile | undefined;
  #writtenBytes = 0;
  /** Digests of contacts that an earlier run may have yielded as changed, before it could save the page. */
  readonly #maybeTold = new Map<string, Buffer>();
  /** Contacts that an earlier run of this pass has seen. */
  seen = 0;
  /** Where the list continues. */
  cursor: string | undefined;

  private constructor(since: string) {
    this.#since = since;
  }

  /** The number of known contacts. */
  get size(): number {
    return this.#places.size;
  }

  static async begin<C extends Contact>(since: string, query: object): Promise<Pass<C>> {
    const pass = new Pass<C>(resolve(since));
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
    this.#before = await SnapshotFile.open(this.#since, query);
    if (this.#before === undefined) return;
    let isWhole = false;
    for await (const frame of this.#before.frames()) {
      if (frame.isTaken)
        for (const { bytes, place } of digestsIn(frame)) this.#places.set(packedId(bytes), place);
      for (const name of frame.names) this.#names.numberOf(name);
      this.#beforeBytes = frame.end;
      isWhole = frame.cursor === null;
    }
    if (!isWhole)
      throw new ConfigurationError(
        `snapshot ${this.#since} is cut short or damaged: put a copy of it back, or delete it to start over`,
      );
    this.#unseen = this.size;
  }

  async #openDraft(query: object): Promise<void> {
    const path = `${await explained(this.#since, () => destinationOf(this.#since))}${suffix}`;
    const after = this.#before?.header.id ?? null;
    let found = await SnapshotFile.open(path, query, true);
    let isTaken = true;
    if (found !== undefined && found.header.after !== after) {
      // It belongs to a pass that compared with another snapshot.
      await found.close();
      found = undefined;
    }
    if (found !== undefined) {
      this.#written = found;
      this.#writtenBytes = found.framesAt;
      for await (const frame of found.frames()) {
        // The last frame of a pass is written again at its end.
        if (frame.cursor === null) break;
        isTaken = frame.isTaken;
        if (isTaken) this.cursor = frame.cursor || undefined;
        for (const { bytes, place } of digestsIn(frame))
          if (isTaken) this.#see(packedId(bytes), place);
          else this.#doubt(packedId(bytes), bytes);
        for (const name of frame.names) this.#names.numberOf(name);
        this.#namesWritten = this.#names.list.length;
        this.#writtenBytes = frame.end;
      }
    }
    const keepBytes = found && this.#writtenBytes;
    this.#draft = await explained(path, () => openDraft(this.#since, { suffix, keepBytes, mode: 0o600 }));
    if (!isTaken) await this.redoFrom(this.cursor);
    if (found !== undefined) return;
    await this.#append(headerBytes(newHeader(after, query)));
    this.#written = await SnapshotFile.open(path, query);
  }

  /** The contact is in the draft. */
  #see(id: string, place: number): void {
    const known = this.#places.get(id);
    if (known === undefined || known < this.#beforeBytes) this.seen += 1;
    if (known !== undefined && known < this.#beforeBytes) this.#unseen -= 1;
    this.#places.set(id, this.#beforeBytes + place);
    this.#maybeTold.delete(id);
  }

  /** The contact is on a page that was not taken. */
  #doubt(id: string, bytes: Buffer): void {
    const before = this.#digestBefore(id);
    if (before === undefined || !before.equals(bytes)) this.#maybeTold.set(id, bytes);
  }

  #digestBefore(id: string): Buffer | undefined {
    const place = this.#places.get(id);
    return place !== undefined && place < this.#beforeBytes ? this.#before?.digestAt(place) : undefined;
  }

  knows(contact: unknown): boolean {
    return isRecord(contact) && this.#places.get(String(contact.id)) !== undefined;
  }

  compare(contact: C): Compared<C> {
    const now = digestOf(contact, this.#names);
    const bytes = packDigest(now);
    const { id } = now;
    const place = this.#places.get(id);
    if (place === undefined) return { bytes, id, change: { kind: "added", contact } };
    const before = this.#digestBefore(id) ?? this.#written?.digestAt(place - this.#beforeBytes);
    // A field that was yielded as changed and has changed back is a change too.
    const known = before?.equals(bytes) ? this.#maybeTold.get(id) : before;
    if (known === undefined || known.equals(bytes)) return { bytes, id, change: undefined };
    const fields = fieldsChanged(unpackDigest(known), now, this.#names);
    return { bytes, id, change: { kind: "changed", contact, fields } };
  }

  /** Stores a page. It counts as taken when the next one is stored. */
  async keep(compared: readonly Compared<C>[], cursor: string | null): Promise<void> {
    const names = this.#names.list.slice(this.#namesWritten);
    const digests = Buffer.concat(compared.map(({ bytes }) => bytes));
    await this.#append(packFrame({ cursor, names, digests }));
    this.#namesWritten += names.length;
    let place = this.#writtenBytes - digests.length;
    for (const { id, bytes } of compared) {
      this.#see(id, place);
      place += bytes.length;
    }
  }

  /** Contacts of the snapshot that are not in the list any more. */
  async *removed(): AsyncGenerator<readonly ContactChange<C>[]> {
    let page: ContactChange<C>[] = [];
    for await (const id of this.#gone()) {
      page.push({ kind: "removed", id });
      if (page.length < pageSize) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  async *#gone(): AsyncGenerator<string> {
    for (const id of this.#maybeTold.keys()) if (this.#places.get(id) === undefined) yield id;
    if (this.#before === undefined || this.#unseen === 0) return;
    for await (const frame of this.#before.frames())
      for (const { bytes, place } of digestsIn(frame)) {
        const id = packedId(bytes);
        if (this.#places.get(id) === place) yield id;
      }
  }

  /** Replaces the snapshot with the draft. */
  async finish(): Promise<void> {
    await this.keep([], null);
    // Some systems cannot rename an open file.
    await this.#before?.close();
    await this.#written?.close();
    await explained(this.#since, async () => this.#draft?.commit());
    this.#draft = undefined;
  }

  /** Reads the page again that was stored last, and goes on from the cursor; undefined for the beginning of the list. */
  async redoFrom(cursor: string | undefined): Promise<void> {
    await this.#append(
      packFrame({ cursor: cursor ?? "", names: [], digests: Buffer.alloc(0), isRedo: true }),
    );
  }

  async close(): Promise<void> {
    await this.#before?.close();
    await this.#written?.close();
    await this.#draft?.discard();
  }

  async #append(bytes: Buffer): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    await explained(draft.path, async () => {
      if ((await draft.handle.stat()).size !== this.#writtenBytes)
        throw new ConfigurationError(
          `${draft.path}: another run writes into it; give each a snapshot of its own`,
        );
      await draft.handle.writeFile(bytes);
    });
    this.#writtenBytes += bytes.length;
  }
}

const check = (options: ChangesOptions): void => {
  const known = ["since", "search", "onProgress", "signal", "timeoutMs", "totalTimeoutMs", "maxWaitMs"];
  const faults = [
    ...unknownKeys(options, [...known, "maxRetries", "priority", "headers"]),
    ...callFaults(options),
  ];
  const { since, search, onProgress }: { [K in keyof ChangesOptions]?: unknown } = options;
  if (typeof since !== "string" || since === "") faults.push("since must be the path of a snapshot");
  if (search !== undefined && typeof search !== "string") faults.push("search must be a text");
  if (onProgress !== undefined && typeof onProgress !== "function")
    faults.push("onProgress must be a function");
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/**
 * The changes of a list since a snapshot, by pages. A page counts as taken when the next one is requested; until then,
 * the next run yields it again.
 */
export async function* changedContacts<C extends Contact>(
  options: ChangesOptions,
  { call, clock, pages }: ChangesContext<C>,
): AsyncGenerator<readonly ContactChange<C>[]> {
  check(options);
  const { since, search, onProgress, ...callOptions } = options;
  const query = search === undefined ? {} : { search };
  const pass = await Pass.begin<C>(since, query);
  const progress = new ProgressReporter(onProgress, undefined, clock);
  const waits = new WaitTracker();
  const list = (from: { readonly cursor?: string | undefined; readonly prefetch?: number }) =>
    pages(waits.watch(call), callOptions, { ...query, ...from });
  progress.watched = {
    get waitingFor() {
      return waits.now;
    },
  };
  waits.onBegin = () => progress.touch();
  try {
    if (pass.size > 0) await refuseForeign(pass, list({ prefetch: 0 }), since);
    progress.skip(pass.seen);
    let done = pass.seen;
    for await (const { data, total, cursor } of list({ cursor: pass.cursor })) {
      const compared = data.filter(isRecord).map((contact) => pass.compare(contact));
      const changes = compared.flatMap(({ change }) => change ?? []);
      // Stored before it is yielded: the next run then yields a contact as removed that is gone by then.
      await pass.keep(compared, cursor ?? "");
      if (changes.length > 0) yield changes;
      done += data.length;
      progress.total = total;
      progress.update(done);
    }
    for await (const changes of pass.removed()) yield changes;
    await pass.finish();
    progress.update(done, true);
  } catch (error) {
    // If the list cannot be read from its cursor, the next run could not read it either.
    if (error instanceof ResponseValidationError) await pass.redoFrom(undefined);
    throw error;
  } finally {
    progress.stop();
    await pass.close();
  }
}

/** A key does not say its workspace; only the contacts identify it. */
const refuseForeign = async <C extends Contact>(
  pass: Pass<C>,
  pages: AsyncIterable<{ readonly data: readonly C[] }>,
  since: string,
): Promise<void> => {
  for await (const { data } of pages) if (data.some((contact) => pass.knows(contact))) return;
  throw new ConfigurationError(
    `snapshot ${since} is of another workspace: none of its ${pass.size} contacts is in the list; if they were all removed, delete it to start over`,
  );
};
