import { stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { type Draft, explained, keptDraftOf, openDraft } from "./atomic-file.ts";
import { untilAborted } from "./cancellation.ts";

/** Where work keeps its state. */
interface StateStore<State> {
  load(): Promise<State | undefined>;
  /**
   * Resolves when the state would survive a power cut. Without this, nothing is saved. Of two runs, the one that has the
   * draft goes on.
   */
  readonly save?: ((state: State, hasDraft: boolean) => Promise<void>) | undefined;
  /** Throws if no state could be saved. */
  readonly check?: (() => Promise<void>) | undefined;
  /** Without this, the state is kept when the work has ended. */
  readonly remove?: () => Promise<void>;
}

interface ResumableOptions<State> {
  /** What errors call the state: `checkpoint events.json`. */
  readonly name: string;
  /** Undefined: nothing is kept. */
  readonly store: StateStore<State> | undefined;
  /** The state of work that has not begun. */
  readonly fresh: State;
  /** Ends each wait for the store. */
  readonly signal?: AbortSignal | undefined;
}

/** The file that a draft becomes. */
export interface DraftFile {
  readonly path: string;
  /** What errors call it. */
  readonly name: string;
  /** The permissions of a new draft, less the umask. */
  readonly mode?: number | undefined;
}

const sizeOfDraft = async ({ path, name }: DraftFile): Promise<number | undefined> => {
  const draft = await explained(name, () => keptDraftOf(path));
  return (await stat(draft).catch(() => undefined))?.size;
};

/**
 * Work that can be killed at any time and started again: each run continues from the state that was saved last.
 *
 * Work that writes a file also has a draft. The state counts bytes of the draft that are on disk; what lies beyond them
 * is of a killed run, and removed.
 */
export class Resumable<State extends object> {
  /** What is settled. */
  state: State;
  /** An earlier run has begun this work. */
  isResumed = false;
  readonly #options: ResumableOptions<State>;
  #draft: Draft | undefined;
  /** The save that has begun last, and the one that begins after it. */
  #saving: Promise<void> = Promise.resolve();
  #nextSave: Promise<void> | undefined;

  constructor(options: ResumableOptions<State>) {
    this.#options = options;
    this.state = options.fresh;
  }

  /** Reads the state of an earlier run. @param isOurs - whether it is of this work, which otherwise begins anew. */
  async resume(isOurs: (before: State) => boolean): Promise<void> {
    const { store, signal } = this.#options;
    const before = store && (await untilAborted(store.load(), signal));
    await store?.check?.();
    if (before === undefined || !isOurs(before)) return;
    this.state = { ...this.state, ...before };
    this.isResumed = true;
  }

  /** @throws ConfigurationError about the state. @param what - the rest of a sentence about it. */
  refuse(what: string, cause?: unknown): never {
    throw new ConfigurationError(`${this.#options.name} ${what}`, { cause });
  }

  /** Whether an earlier run has left its draft. */
  async hasDraft(file: DraftFile): Promise<boolean> {
    return (await sizeOfDraft(file)) !== undefined;
  }

  /** Starts the draft, or continues it after the bytes that count. @throws ConfigurationError if it has fewer. */
  async openDraft(file: DraftFile, bytes: number): Promise<void> {
    const { path, name, mode } = file;
    if (this.isResumed && ((await sizeOfDraft(file)) ?? -1) < bytes)
      throw new ConfigurationError(
        `${await keptDraftOf(path)} is missing or shorter than ${this.#options.name} requires. To start over, delete the checkpoint`,
      );
    const keepBytes = this.isResumed ? bytes : undefined;
    this.#draft = await openDraft(path, name, { isKept: true, keepBytes, mode });
  }

  /** Adds to the draft. It counts when a state is saved that says so. */
  async append(block: string | Uint8Array): Promise<void> {
    await this.#draft?.append(block);
  }

  /** Saves a state, after what was appended. While one is saved, others wait for one save of the newest. */
  async save(state: State): Promise<void> {
    this.state = state;
    this.#nextSave ??= this.#saving.then(async () => {
      this.#nextSave = undefined;
      await this.#draft?.sync();
      await this.#options.store?.save?.(this.state, this.#draft !== undefined);
    });
    this.#saving = this.#nextSave.catch(() => undefined);
    await untilAborted(this.#nextSave, this.#options.signal);
  }

  /** Ends the work: makes the file of its draft, by default by renaming it, and removes the state. */
  async finish(make?: (draftPath: string) => Promise<void>): Promise<void> {
    const draft = this.#draft;
    if (draft !== undefined && make !== undefined) {
      await draft.sync();
      await make(draft.path);
      await draft.remove();
    } else await draft?.commit();
    await this.#options.store?.remove?.();
  }

  /** Leaves the work to a later run. Without a state, the draft would be of no use. */
  async leave(): Promise<void> {
    if (this.state === this.#options.fresh) await this.#draft?.remove();
    await this.#draft?.discard();
  }
}
