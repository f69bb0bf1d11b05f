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

/** An existing contact that matches a row. */
export interface KnownContact {
  readonly id: string;
  /** The fields that the row would change; empty if it would change nothing. */
  readonly fields: readonly string[];
}

const pageSize = 200;

/** A list whose first page was read. */
interface StartedList {
  readonly cursor: string | undefined;
  /** The service's count of contacts; undefined if the count is missing, or smaller than the page. */
  readonly total: number | undefined;
  /** The pages after the first. */
  readonly rest: AsyncIterator<Page<Contact>>;
}

// The key may not list contacts, or the service has no such operation. Any other error means that the service has a
// problem now, and ends the run.
const isNotAllowed = (error: unknown): boolean =>
  error instanceof ApiError && [403, 404, 405, 501].includes(error.status);

/**
 * Finds the existing contact of each row with the fewest requests: one pass over the list, or a search per row. Each
 * contact takes about 250 bytes of memory, so a million contacts take 250 MB.
 */
export class ContactLookup {
  /** The id of each contact as JSON, and the short text of each field, keyed by the address in lower case. */
  readonly #contacts = new PackedMap();
  /**
   * The addresses, in lower case, for which a search found no contact. If another program creates such a contact
   * meanwhile, the service refuses our creation with 409.
   */
  readonly #absent = new Set<string>();
  readonly #packer = new TextPacker();
  readonly #call: Call;
  readonly #options: CallOptions;
  /**
   * How contacts are looked up. `list`: in the complete list, which is in memory. `search`: with a search for each row.
   * `none`: not at all, because the key may not list contacts. Undefined until the method is decided.
   */
  method: "list" | "search" | "none" | undefined = undefined;

  constructor(call: Call, options: CallOptions) {
    [this.#call, this.#options] = [call, options];
  }

  /**
   * Yields the rows of a source, and decides the method. It holds back unsettled rows until they are more than the
   * pages of the list, and then reads the list. If the source ends earlier, a search per row takes fewer requests.
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
      if (isSettled || this.method !== undefined) {
        yield row;
        continue;
      }
      const copy = readUpsert(row);
      const line = lineOf(row);
      ahead.push(line === undefined ? copy : markLine(copy, line));
      list ??= await this.#begin();
      if (list !== undefined && ahead.length > (list.total ?? 0) / pageSize) await this.#readRest(list);
      if (this.method !== undefined) yield* ahead.splice(0);
    }
    if (list !== undefined) this.method ??= "search";
    yield* ahead;
  }

  /**
   * Finds the contact with a row's address, and the fields that the row would change; undefined if no contact is known.
   */
  async find(row: GivenContact): Promise<KnownContact | undefined> {
    let match = this.#textsOf(row.email);
    const address = foldAscii(row.email);
    if (match === undefined && this.method === "search" && !this.#absent.has(address)) {
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
    this.#remember(email, { id: JSON.stringify(String(id ?? "")), ...shortTexts(contact) });
  }

  /** Applies a row to its contact in memory, without sending anything. */
  apply(row: GivenContact): void {
    this.#remember(row.email, { id: '""', ...this.#textsOf(row.email), ...shortTexts(row) });
  }

  #remember(email: string, texts: Texts): void {
    this.#contacts.set(foldAscii(email), Buffer.from(this.#packer.pack(texts)));
  }

  #textsOf(email: string): Texts | undefined {
    const packed = this.#contacts.get(foldAscii(email));
    return packed === undefined ? undefined : this.#packer.unpack(packed.toString());
  }

  #pages(from: PagingOptions): AsyncIterator<WalkedPage<Contact>> {
    return paged(this.#call, operations.contacts.list, {}, { ...this.#options, ...from }).pages();
  }

  /** Reads the first page, which contains the number of contacts. Undefined if the key may not list contacts. */
  async #begin(): Promise<StartedList | undefined> {
    try {
      const rest = this.#pages({ prefetch: 0 });
      const { value: first }: { value?: WalkedPage<Contact> } = await rest.next();
      for (const contact of first?.data ?? []) this.add(contact);
      return { cursor: first?.cursor, total: first ? totalOf(first) : 0, rest };
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      this.method = "none";
      return undefined;
    }
  }

  async #readRest({ cursor, total, rest }: StartedList): Promise<void> {
    const hasMore = total === undefined || this.#contacts.size < total;
    // If the total announces more contacts, prefetch pages. If not, still read to the end, because the total may be
    // wrong.
    const pages = cursor !== undefined && hasMore ? this.#pages({ cursor }) : rest;
    for (let page = await pages.next(); !page.done; page = await pages.next())
      for (const contact of page.value.data) this.add(contact);
    this.method = "list";
  }
}
