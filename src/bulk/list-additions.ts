import { ApiError } from "../errors.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import type { ContactInput } from "../service/contacts.ts";
import type { Checkpoint, ListProgress } from "./checkpoint.ts";
import type { DeferredStep, Entry } from "./resumable.ts";

type Row = Entry<Pick<ContactInput, "email">>;

interface ListOf {
  /** Adds as many addresses as a request allows. */
  readonly add: (emails: readonly string[]) => Promise<unknown>;
  /** The list refused the address of a row. */
  readonly onRefused: (row: Row, error: ApiError) => Promise<void>;
  /** An abort may throw any reason, even the error of another call. */
  readonly signal: AbortSignal | undefined;
}

// About the addresses, and not about the list or the service.
const isAboutAnAddress = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 422].includes(error.status);

/**
 * Collects the rows of an import that belong to a list, and adds as many at once as a request allows, so that the list
 * costs few extra requests.
 *
 * The checkpoint stores the rows that wait for their request as a position in the source: a resumed run reads those
 * rows again and takes their addresses from there. Refused rows are stored, because adding one to the list would create
 * its contact.
 */
export class ListAdditions implements DeferredStep<ContactInput> {
  readonly #list: ListOf;
  readonly #most: number;
  /** Every row before it is in the list, or was refused. */
  #mark = 0;
  /** The same for these rows behind it. */
  readonly #beyond = new Set<number>();
  #refused = new Set<number>();
  #waiting: Row[] = [];

  constructor(list: ListOf, most: number) {
    this.#list = list;
    this.#most = most;
  }

  resume({ done, list }: Checkpoint): void {
    // Without an entry for it, earlier rows were not to be added.
    this.#mark = Math.min(done, list?.before ?? done);
    // Rows after the checkpoint come again, and may not be refused this time.
    this.#refused = new Set(list?.except.filter((index) => index < done));
  }

  get progress(): ListProgress {
    return { before: this.#mark, except: [...this.#refused] };
  }

  /** A row that an earlier run settled may still have to be added to the list. */
  passOver(row: Row): void {
    if (this.#refused.has(row.index)) this.#settle(row.index);
    else if (row.index >= this.#mark) this.#waiting.push(row);
  }

  refused(index: number): void {
    this.#refused.add(index);
    this.#settle(index);
  }

  take(rows: readonly Row[]): void {
    this.#waiting.push(...rows);
  }

  /** Adds all rows that fill complete requests. */
  async pump(): Promise<void> {
    // Refused rows after a waiting one are kept in memory, so a row must not wait too long.
    const isLong = this.#refused.size >= this.#most;
    while (this.#waiting.length >= this.#most || (isLong && this.#waiting.length > 0)) await this.#addSome();
  }

  /** Adds the rest. */
  async finish(): Promise<void> {
    while (this.#waiting.length > 0) await this.#addSome();
  }

  async #addSome(): Promise<void> {
    const rows = this.#waiting.splice(0, this.#most);
    const byAddress = new Map<string, Row[]>();
    for (const row of rows) {
      const address = foldAscii(row.item.email);
      byAddress.set(address, [...(byAddress.get(address) ?? []), row]);
    }
    await this.#addOrSplit([...byAddress.values()]);
  }

  /** One address that the list refuses must not keep the others out. */
  async #addOrSplit(rows: readonly (readonly Row[])[]): Promise<void> {
    const emails = rows.flatMap((same) => same.at(-1)?.item.email ?? []);
    try {
      await this.#list.add(emails);
    } catch (error) {
      this.#list.signal?.throwIfAborted();
      if (!isAboutAnAddress(error)) throw error;
      if (rows.length === 1) return this.#refuse(rows.flat(), error);
      const half = Math.ceil(rows.length / 2);
      await this.#addOrSplit(rows.slice(0, half));
      return this.#addOrSplit(rows.slice(half));
    }
    for (const { index } of rows.flat()) this.#settle(index);
  }

  async #refuse(rows: readonly Row[], error: ApiError): Promise<void> {
    for (const row of rows) {
      await this.#list.onRefused(row, error);
      this.refused(row.index);
    }
  }

  #settle(index: number): void {
    this.#beyond.add(index);
    for (; this.#beyond.delete(this.#mark); this.#mark += 1) this.#refused.delete(this.#mark);
  }
}
