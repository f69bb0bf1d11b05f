/** Calls `work` when a whole turn of the event loop has brought nothing new. */
export class IdleWatch {
  readonly #work: () => void;
  #turn: NodeJS.Immediate | undefined;
  #isBusy = false;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Something new has come. */
  taken(): void {
    this.#isBusy = true;
    this.#turn ??= setImmediate(() => this.#look());
  }

  stop(): void {
    clearImmediate(this.#turn);
  }

  #look(): void {
    this.#turn = undefined;
    if (!this.#isBusy) return this.#work();
    this.#isBusy = false;
    this.#turn = setImmediate(() => this.#look());
  }
}
