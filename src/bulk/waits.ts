import type { Waits } from "../call/scope.ts";

// The most specific reason first; all other reasons are names of limits, and come after a pause.
const after = ["retry", "concurrency"];
const rankOf = (what: string): number => (what === "retry-after" ? -1 : after.indexOf(what) + 1);

/** What the requests of long work wait for now, as the requests report it. */
export class WaitTracker implements Waits {
  readonly #counts = new Map<string, number>();
  /** Called when a wait begins. */
  onBegin: () => void = () => undefined;

  get now(): string | undefined {
    return [...this.#counts.keys()].sort((a, b) => rankOf(a) - rankOf(b))[0];
  }

  /** For one request: called with what it waits for, and with undefined when the wait is over. */
  listener(): (what: string | undefined) => void {
    let current: string | undefined;
    return (what) => {
      if (current !== undefined) this.#count(current, -1);
      current = what;
      if (what === undefined) return;
      this.#count(what, 1);
      this.onBegin();
    };
  }

  #count(what: string, by: number): void {
    const count = (this.#counts.get(what) ?? 0) + by;
    if (count > 0) this.#counts.set(what, count);
    else this.#counts.delete(what);
  }
}
