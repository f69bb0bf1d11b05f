/**
 * A value in a ring, or, without neighbours, in none. Lists of what calls wait for are rings, because a Set that lives
 * long keeps finished calls alive: when V8 reorganises it, the old table still holds its entries.
 */
export class Link<T> {
  readonly value: T;
  next: Link<T> = this;
  #previous: Link<T> = this;

  constructor(value: T) {
    this.value = value;
  }

  /** Whether it is in no ring, or the only one in its ring. */
  get isAlone(): boolean {
    return this.next === this;
  }

  /** Adds a link at the end of the ring that starts after this one. */
  add(link: Link<T>): void {
    link.#previous = this.#previous;
    link.next = this;
    this.#previous.next = link;
    this.#previous = link;
  }

  remove(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    // A removed link must not keep its neighbours alive.
    this.next = this;
    this.#previous = this;
  }
}
