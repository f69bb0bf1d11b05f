const recordsUnchanged = 40;

/** Notices a service that answers the same page wherever it is asked. */
export class Standstill {
  #before = { skip: 0, firstId: "" };
  /** Records in pages that began like the one before, although they were asked for at another place. */
  #unchanged = 0;

  /** Takes note of a page; true once it has stayed the same for longer than chance explains. */
  holdsAt(skip: number, ids: readonly string[]): boolean {
    const [firstId = ""] = ids;
    const isSame = firstId !== "" && firstId === this.#before.firstId && skip > this.#before.skip;
    this.#before = { skip, firstId };
    this.#unchanged = isSame ? this.#unchanged + ids.length : 0;
    // Fewer may be chance: as many records were added as were skipped.
    return this.#unchanged >= Math.max(2 * ids.length, recordsUnchanged);
  }
}
