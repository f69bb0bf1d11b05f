import { foldAscii } from "../runtime/fold-ascii.ts";

/** The turn of one row among the rows with the same address. */
export interface Turn {
  /** Resolves when every earlier row with the address is done. */
  readonly isNext: Promise<void>;
  /** Lets the next row start; a second call has no effect. */
  pass(): void;
}

/** Processes rows with the same address in the order of the source, even if their batches run in parallel. */
export class AddressTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Takes a turn. Call it in the order of the source. */
  take(email: unknown): Turn {
    const key = foldAscii(String(email));
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
