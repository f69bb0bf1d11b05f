/** How many ids are compared: a few records may well be touched in a row and move to the end, in their order. */
const idsCompared = 8;

/** Notices a list that begins anew behind its end, as one does whose service takes `skip` modulo its length. */
export class WrapAround {
  readonly #first: string[];

  /** @param first - the first ids of the walk, where it goes on from a cursor. */
  constructor(first: readonly string[] = []) {
    this.#first = [...first];
  }

  /** The first ids yielded, as far as they are compared. */
  get first(): readonly string[] {
    return this.#first;
  }

  /** Takes note of ids that are yielded; those without one cannot be known again. */
  add(ids: readonly string[]): void {
    for (const id of ids)
      if (this.#first.length < idsCompared && id !== "" && !this.#first.includes(id)) this.#first.push(id);
  }

  /** The walk begins again. */
  forget(): void {
    this.#first.length = 0;
  }

  /**
   * Where in a page the list begins anew; undefined where it does not. `last` is where the last record yielded stands
   * in it: what begins anew stands behind that, while records added in front move the first ones there before it.
   */
  startsIn(ids: readonly string[], last: number): number | undefined {
    const first = this.#first.length === 0 ? ids.slice(0, idsCompared) : this.#first;
    const at = ids.indexOf(first[0] || "none", this.#first.length === 0 ? 1 : last + 1);
    if (at === -1) return undefined;
    // A list shorter than what is compared begins anew before its end.
    const period = this.#first.length === 0 ? at : first.length;
    const shown = ids.slice(at, at + first.length);
    // One record alone says little: it may have moved to the end.
    const isEnough = shown.length > 1 || period === 1;
    return isEnough && shown.every((id, index) => id === first[index % period]) ? at : undefined;
  }
}
