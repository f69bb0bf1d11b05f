import type { Call } from "../call/call.ts";
import { ApiError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import { totalOf } from "../paging/page-size.ts";
import { type PagingOptions, paged } from "../paging/paged.ts";
import type { WalkedPage } from "../paging/walk.ts";
import { iterateUntilAborted } from "../runtime/cancellation.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { isUnreadable, lineOf, markLine } from "../runtime/source-line.ts";
import { isRecord } from "../runtime/values.ts";
import type { Page } from "../service/common.ts";
import { type Contact, readUpsert } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { fieldsToChange, shortTexts, TextPacker, type Texts } from "./contact-fields.ts";
import { PackedMap } from "./packed-map.ts";
import type { InputSource } from "./source-run.ts";
import { Spool } from "./spool.ts";

/** The way in which an import looked up existing contacts. */
export interface ImportLookup {
  /**
   * `list`: it read the complete list once. `search`: it searched for each row. `none`: the key may not list contacts.
   */
  readonly by: "list" | "search" | "none";
  /** Why the import chose this way. */
  readonly reason: string;
}

/** An existing contact that matches a row. */
export interface KnownContact {
  readonly id: string;
  /** The fields that the row would change; empty if it would change nothing. */
  readonly fields: readonly string[];
}

/**
 * The key under which the number of the complete contact in the spool is stored. No contact has a field of this name.
 */
const spoolKey = "#whole";

const pageSize = 200;

/** A list whose first page was read. */
interface StartedList {
  readonly cursor: string | undefined;
  /** The number of contacts; undefined if the service returns none, or one that is smaller than the page. */
  readonly total: number | undefined;
  /** The pages after the first. */
  readonly rest: AsyncIterator<Page<Contact>>;
}

// The key lacks permission, or the service has no such operation. Any other error means that the service has a problem
// now, and ends the run.
const isNotAllowed = (error: unknown): boolean =>
  error instanceof ApiError && [403, 404, 405, 501].includes(error.status);

/**
 * Finds the existing contact of each row with the fewest requests: one pass over the list, or a search per row. Each
 * contact takes about 250 bytes of memory, so a million contacts take 250 MB.
 */
export class ContactLookup {
  /** The id of each contact as JSON, and the short text of each field, keyed by folded address. */
  readonly #contacts = new PackedMap();
  /**
   * Folded addresses without a contact, according to a search. If another program creates one, ours is refused (409).
   */
  readonly #absent = new Set<string>();
  readonly #packer = new TextPacker();
  readonly #spool: Spool<object> | undefined;
  readonly #call: Call;
  readonly #options: CallOptions;
  /** The chosen way; undefined until a row has to be looked up. */
  way: ImportLookup | undefined;

  /** @param keepsComplete - whether to keep each complete contact, too, in a temporary file. */
  constructor(call: Call, options: CallOptions, { keepsComplete }: { readonly keepsComplete: boolean }) {
    [this.#call, this.#options] = [call, options];
    this.#spool = keepsComplete ? new Spool() : undefined;
  }

  /**
   * Yields the rows of a source. It reads ahead until it is clear whether a search per row would take more requests
   * than reading the list. If so, it reads the list before it yields the first unsettled row.
   *
   * @param done - the number of rows that an earlier run has settled.
   */
  async *rows(source: InputSource<GivenContact>, done: number): AsyncGenerator<GivenContact> {
    let index = 0;
    const ahead: GivenContact[] = [];
    let list: StartedList | undefined;
    for await (const row of iterateUntilAborted(source, this.#call.signal)) {
      const isSettled = index < done;
      if (!isUnreadable(row)) index += 1;
      if (isSettled || this.way !== undefined) {
        yield row;
        continue;
      }
      const copy = readUpsert(row);
      const line = lineOf(row);
      ahead.push(line === undefined ? copy : markLine(copy, line));
      list ??= await this.#begin();
      if (list !== undefined && ahead.length > (list.total ?? 0) / pageSize) await this.#readRest(list);
      if (this.way !== undefined) yield* ahead.splice(0);
    }
    if (list !== undefined)
      this.way ??= {
        by: "search",
        reason: `each row is searched by email, which takes no more requests than reading the list of ${list.total} contacts`,
      };
    yield* ahead;
  }

  /**
   * Finds the contact with a row's address, and the fields that the row would change; undefined if no contact is known.
   */
  async look(row: GivenContact): Promise<KnownContact | undefined> {
    let match = this.#textsOf(row.email);
    const address = foldAscii(row.email);
    if (match === undefined && this.way?.by === "search" && !this.#absent.has(address)) {
      const contact = await findContact(this.#call, row.email, this.#options);
      // Store the contact under the row's address, because the row's case can differ.
      if (contact !== null) this.add({ ...contact, email: row.email });
      else this.#absent.add(address);
      match = this.#textsOf(row.email);
    }
    return match && { id: JSON.parse(match.id ?? '""'), fields: fieldsToChange(row, match) };
  }

  /** Remembers a contact in its current state. In lenient mode, a record of the list can have any shape. */
  add(contact: unknown): void {
    if (!isRecord(contact) || typeof contact.email !== "string") return;
    const { id, email } = contact;
    const number = this.#spool?.add(contact);
    const texts = { id: JSON.stringify(String(id ?? "")), ...shortTexts(contact) };
    const stored = number === undefined ? texts : { ...texts, [spoolKey]: String(number) };
    this.#contacts.set(foldAscii(email), Buffer.from(this.#packer.pack(stored)));
  }

  /** Applies a row to its contact in memory, without sending anything. */
  apply(row: GivenContact): void {
    const texts = { id: '""', ...this.#textsOf(row.email), ...shortTexts(row) };
    this.#contacts.set(foldAscii(row.email), Buffer.from(this.#packer.pack(texts)));
  }

  /** The complete contact; undefined if complete contacts are not kept. */
  contactOf(email: string): Contact | undefined {
    const number = this.#textsOf(email)?.[spoolKey];
    // The spool contains only contacts from the service.
    return number === undefined ? undefined : (this.#spool?.read(Number(number)) as Contact);
  }

  #textsOf(email: string): Texts | undefined {
    const packed = this.#contacts.get(foldAscii(email));
    return packed === undefined ? undefined : this.#packer.unpack(packed.toString());
  }

  #pages(from: PagingOptions): AsyncIterator<WalkedPage<Contact>> {
    return paged(this.#call, operations.contacts.list, {}, { ...this.#options, ...from }).pages();
  }

  /** Reads the first page, which contains the number of contacts. */
  async #begin(): Promise<StartedList | undefined> {
    try {
      const rest = this.#pages({ prefetch: 0 });
      const { value: first }: { value?: WalkedPage<Contact> } = await rest.next();
      for (const contact of first?.data ?? []) this.add(contact);
      return { cursor: first?.cursor, total: first ? totalOf(first) : 0, rest };
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      this.way = { by: "none", reason: "the key may not list contacts" };
      return undefined;
    }
  }

  async #readRest({ cursor, total, rest }: StartedList): Promise<void> {
    const hasMore = total === undefined || this.#contacts.size < total;
    // If more contacts are due, request pages ahead. If not, still read to the end of the list: a total may be wrong.
    const pages = cursor !== undefined && hasMore ? this.#pages({ cursor }) : rest;
    for (let page = await pages.next(); !page.done; page = await pages.next())
      for (const contact of page.value.data) this.add(contact);
    const reason =
      total === undefined
        ? "the service does not return the number of contacts"
        : `the list of ${total} contacts is read first, which takes no more requests than a search for each row`;
    this.way = { by: "list", reason };
  }
}
