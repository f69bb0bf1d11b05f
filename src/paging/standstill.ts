import { idOf } from "./recent.ts";
import type { ServedPage } from "./walk-settings.ts";

const recordsUnchanged = 40;

/** What a record is told from others by: its id, or all that it holds. */
const markOf = (record: unknown): string => idOf(record) || JSON.stringify(record);

/** Notices a service that answers the same page wherever it is asked. */
export class Standstill {
  #before = { skip: 0, page: "", total: 0 };
  /** Records in pages like the one before, although they were asked for at another place. */
  #unchanged = 0;

  /** Takes note of a page; true once it has stayed the same for longer than chance explains. */
  holdsAt(skip: number, { data, total }: ServedPage<unknown>): boolean {
    // Its ends: in a list that moves, a page may well begin like the last one and end further on.
    const now = { skip, page: `${markOf(data[0])} ${data.length} ${markOf(data.at(-1))}`, total: total ?? 0 };
    const before = this.#before;
    this.#before = now;
    // Where the list has grown, the same records may well stand further back.
    const isSame = now.page === before.page && skip > before.skip && now.total <= before.total;
    this.#unchanged = isSame ? this.#unchanged + data.length : 0;
    // Fewer may be chance: as many records were added as were skipped.
    return this.#unchanged >= Math.max(2 * data.length, recordsUnchanged);
  }
}
