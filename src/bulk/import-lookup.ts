import type { CallScope } from "../call/scope.ts";
import { ApiError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import { type PagingOptions, paged } from "../paging/paged.ts";
import type { WalkedPage } from "../paging/walk.ts";
import { iterateUntilAborted } from "../runtime/cancellation.ts";
import { lineOf, markLine } from "../runtime/source-line.ts";
import { snapshot } from "../runtime/values.ts";
import type { Page } from "../service/common.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { type KnownContact, KnownContacts } from "./known-contacts.ts";
import type { InputSource } from "./resumable.ts";

/** How an import found out which contacts exist. */
export interface ImportLookup {
  /** `list`: it read the whole list once; `search`: it looked up each row; `none`: the key may do neither. */
  readonly by: "list" | "search" | "none";
  /** The reason. */
  readonly reason: string;
}

const pageSize = 200;

/** A list of which the first page was read. */
interface BegunList {
  readonly cursor: string | undefined;
  /** Undefined if the service gives no number of contacts, or one that its own page exceeds. */
  readonly total: number | undefined;
  /** The pages after the first. */
  readonly rest: AsyncIterator<Page<Contact>>;
}

const totalOf = ({ data, total }: Page<Contact>): number | undefined => {
  const count = Number(total ?? Number.NaN);
  return count >= data.length ? count : undefined;
};

// The key lacks permission, or there is no such operation. Any other error means that the service has a problem now,
// and ends the run.
const isNotAllowed = (error: unknown): boolean =>
  error instanceof ApiError && [403, 404, 405, 501].includes(error.status);

/** Finds the existing contact of each row with the fewest requests: one pass over the list, or a search per row. */
export class ContactLookup {
  readonly contacts: KnownContacts;
  readonly #call: CallScope;
  readonly #options: CallOptions;
  /** Undefined while no row had to be looked up. */
  way: ImportLookup | undefined;

  constructor(call: CallScope, options: CallOptions, kept: { readonly keepsWhole: boolean }) {
    [this.#call, this.#options] = [call, options];
    this.contacts = new KnownContacts(kept);
  }

  /**
   * The rows of a source. Reads ahead until it knows whether a search per row would take more requests than the whole
   * list. If so, it reads the list before it returns the first row that is not `done`.
   */
  async *rows(source: InputSource<GivenContact>, done: number): AsyncGenerator<GivenContact> {
    let index = 0;
    const ahead: GivenContact[] = [];
    let list: BegunList | undefined;
    for await (const row of iterateUntilAborted(source, this.#call.signal)) {
      if (index++ < done || this.way !== undefined) {
        yield row;
        continue;
      }
      const copy = snapshot(row);
      const line = lineOf(row);
      ahead.push(line === undefined ? copy : markLine(copy, line));
      list ??= await this.#begin();
      if (list !== undefined && ahead.length > (list.total ?? 0) / pageSize) await this.#readRest(list);
      if (this.way !== undefined) yield* ahead.splice(0);
    }
    if (list !== undefined)
      this.way ??= {
        by: "search",
        reason: `${ahead.length} rows are fewer than the pages of ${list.total} contacts`,
      };
    yield* ahead;
  }

  /** What a row would change in the contact with its address; undefined if there is none, as far as known. */
  async look(row: GivenContact): Promise<KnownContact | undefined> {
    const known = this.contacts.look(row);
    if (known !== undefined || this.way?.by !== "search") return known;
    const found = await findContact(this.#call, row.email, this.#options);
    if (found === null) return undefined;
    // Under the row's address, in the row's case.
    this.contacts.add({ ...found, email: row.email });
    return this.contacts.look(row);
  }

  #pages(from: PagingOptions): AsyncIterator<WalkedPage<Contact>> {
    return paged(this.#call, operations.contacts.list, {}, { ...this.#options, ...from }).pages();
  }

  /** Reads the first page, which contains the number of contacts. */
  async #begin(): Promise<BegunList | undefined> {
    try {
      const rest = this.#pages({ prefetch: 0 });
      const { value: first }: { value?: WalkedPage<Contact> } = await rest.next();
      for (const contact of first?.data ?? []) this.contacts.add(contact);
      return { cursor: first?.cursor, total: first ? totalOf(first) : 0, rest };
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      this.way = { by: "none", reason: "the key may not list contacts" };
      return undefined;
    }
  }

  async #readRest({ cursor, total, rest }: BegunList): Promise<void> {
    const hasMore = total === undefined || this.contacts.size < total;
    // With more to come, pages are requested ahead. Otherwise the list itself says whether it has ended: a total may be wrong.
    const pages = cursor !== undefined && hasMore ? this.#pages({ cursor }) : rest;
    for (let page = await pages.next(); !page.done; page = await pages.next())
      for (const contact of page.value.data) this.contacts.add(contact);
    const reason =
      total === undefined
        ? "the service does not tell how many contacts there are"
        : `the list of ${total} contacts has fewer pages than there are rows`;
    this.way = { by: "list", reason };
  }
}
