/** The turn of one row among those of its address. */
export interface Turn {
  /** Resolves once every row of the address that came before is done. */
  readonly isNext: Promise<void>;
  /** Lets the next row go; twice does no harm. */
  pass(): void;
}

/** Rows of one address go in the order of the source, also where they stand in batches that run side by side. */
export class AddressTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** To be taken in the order of the source. */
  take(email: unknown): Turn {
    const key = String(email).toLowerCase();
    const isNext = this.#last.get(key) ?? Promise.resolve();
    let pass: () => void = () => undefined;
    const isDone = new Promise<void>((resolve) => {
      pass = resolve;
    });
    this.#last.set(key, isDone);
    return {
      isNext,
      pass: () => {
        if (this.#last.get(key) === isDone) this.#last.delete(key);
        pass();
      },
    };
  }
}
