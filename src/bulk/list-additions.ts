import type { ContactInput } from "../service/contacts.ts";
import type { Checkpoint, ListProgress } from "./checkpoint.ts";
import { LowWaterMark } from "./low-water-mark.ts";
import type { DeferredStep, Entry } from "./resumable.ts";

type Add = (emails: readonly string[], signal: AbortSignal | undefined) => Promise<unknown>;

interface Row {
  readonly index: number;
  readonly email: string;
}

/**
 * Collects the rows of an import that belong to a list, and adds as many at once as a request allows, so that the list
 * costs few extra requests.
 *
 * The checkpoint stores the rows that wait for their request as a position in the source: a resumed run reads those
 * rows again and takes their addresses from there. Refused rows are stored, because adding one to the list would create
 * its contact.
 */
export class ListAdditions implements DeferredStep<ContactInput> {
  readonly #add: Add;
  readonly #most: number;
  #mark = new LowWaterMark();
  #refused = new Set<number>();
  #waiting: Row[] = [];

  constructor(add: Add, most: number) {
    this.#add = add;
    this.#most = most;
  }

  resume({ done, list }: Checkpoint): void {
    // Without an entry for it, earlier rows were not to be added.
    this.#mark = new LowWaterMark(Math.min(done, list?.before ?? done));
    // Rows after the checkpoint come again, and may not be refused this time.
    this.#refused = new Set(list?.except.filter((index) => index < done));
  }

  get progress(): ListProgress {
    return { before: this.#mark.mark, except: [...this.#refused] };
  }

  /** A row that an earlier run settled may still have to be added to the list. */
  passOver({ index, item }: Entry<ContactInput>): void {
    if (this.#refused.has(index)) this.#settle(index);
    else if (index >= this.#mark.mark) this.#waiting.push({ index, email: item.email });
  }

  refused(index: number): void {
    this.#refused.add(index);
    this.#settle(index);
  }

  take(rows: readonly Row[]): void {
    this.#waiting.push(...rows);
  }

  /** Adds all rows that fill complete requests. */
  async pump(signal: AbortSignal | undefined): Promise<void> {
    // Refused rows after a waiting one are kept in memory, so a row must not wait too long.
    const isLong = this.#refused.size >= this.#most;
    while (this.#waiting.length >= this.#most || (isLong && this.#waiting.length > 0))
      await this.#addSome(signal);
  }

  /** Adds the rest. */
  async finish(signal: AbortSignal | undefined): Promise<void> {
    while (this.#waiting.length > 0) await this.#addSome(signal);
  }

  async #addSome(signal: AbortSignal | undefined): Promise<void> {
    const rows = this.#waiting.splice(0, this.#most);
    const distinct = new Map(rows.map(({ email }) => [email.toLowerCase(), email]));
    await this.#add([...distinct.values()], signal);
    for (const { index } of rows) this.#settle(index);
  }

  #settle(index: number): void {
    const mark = this.#mark.settle(index);
    for (const refused of this.#refused) if (refused < mark) this.#refused.delete(refused);
  }
}
