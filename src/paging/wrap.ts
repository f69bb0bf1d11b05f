/** How many ids are compared: a few records may be changed in a row and move to the end, in their order. */
const idsCompared = 8;

/** Detects a list that starts again after its end, because the service takes `skip` modulo its length. */
export class WrapAround {
  readonly #first: string[];

  /** @param first - the first ids of the walk, if it continues from a cursor. */
  constructor(first: readonly string[] = []) {
    this.#first = [...first];
  }

  /** The first yielded ids, as far as they are compared. */
  get first(): readonly string[] {
    return this.#first;
  }

  /** Adds yielded ids; records without an id cannot be recognized. */
  add(ids: readonly string[]): void {
    for (const id of ids)
      if (this.#first.length < idsCompared && id !== "" && !this.#first.includes(id)) this.#first.push(id);
  }

  /** The walk starts again. */
  forget(): void {
    this.#first.length = 0;
  }

  /**
   * Where in a page the list starts again; undefined if it does not. `last` is the position of the last yielded record.
   * A restart comes after it, while records added at the front move the first ones to before it.
   */
  startsIn(ids: readonly string[], last: number): number | undefined {
    const first = this.#first.length === 0 ? ids.slice(0, idsCompared) : this.#first;
    const at = ids.indexOf(first[0] || "none", this.#first.length === 0 ? 1 : last + 1);
    if (at === -1) return undefined;
    // A list shorter than the compared ids starts again before its end.
    const period = this.#first.length === 0 ? at : first.length;
    const shown = ids.slice(at, at + first.length);
    // One record alone is not enough: it may have moved to the end.
    const isEnough = shown.length > 1 || period === 1;
    return isEnough && shown.every((id, index) => id === first[index % period]) ? at : undefined;
  }
}
