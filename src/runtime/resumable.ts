import { stat } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { type Draft, explained, keptDraftOf, openDraft } from "./atomic-file.ts";
import { untilAborted } from "./cancellation.ts";

/** The store for the state of work. */
interface StateStore<State> {
  load(): Promise<State | undefined>;
  /**
   * Saves a state. Resolves when the state would survive a power cut. Without this method, nothing is saved. With
   * `hasDraft`, it overwrites even a state that another run has saved, because `sync` has ensured that the draft is
   * this run's own.
   */
  readonly save?: ((state: State, hasDraft: boolean) => Promise<void>) | undefined;
  /** Throws if a state could not be saved. */
  readonly check?: (() => Promise<void>) | undefined;
  /** Removes the state when the work has ended. Without this method, the state is kept. */
  readonly remove?: () => Promise<void>;
}

interface ResumableOptions<State> {
  /** The name of the state in errors: `checkpoint events.json`. */
  readonly name: string;
  /** The store; undefined to save no state. */
  readonly store: StateStore<State> | undefined;
  /** The state of work that has not started. */
  readonly fresh: State;
  /** Ends each wait for the store. */
  readonly signal?: AbortSignal | undefined;
}

/** The file that a draft becomes. */
export interface DraftFile {
  readonly path: string;
  /** The name of the file in errors. */
  readonly name: string;
  /** The permissions of a new draft, before the umask. */
  readonly mode?: number | undefined;
}

const sizeOfDraft = async ({ path, name }: DraftFile): Promise<number | undefined> => {
  const draft = await explained(name, () => keptDraftOf(path));
  return (await stat(draft).catch(() => undefined))?.size;
};

/**
 * Work that can be killed at any time and started again. Each run continues from the last saved state.
 *
 * Work that writes a file also has a draft. The state counts the bytes of the draft that are on disk. Any bytes after
 * those are from a killed run, and the next run removes them.
 */
export class Resumable<State extends object> {
  /** The progress of the work. */
  state: State;
  /** Whether this run continues an earlier one. */
  isResumed = false;
  readonly #options: ResumableOptions<State>;
  #draft: Draft | undefined;
  /** The last requested save. It may still wait for the save before it. */
  #saving: Promise<void> = Promise.resolve();
  /** The save that has not started yet; undefined if no save is waiting. */
  #nextSave: Promise<void> | undefined;

  constructor(options: ResumableOptions<State>) {
    this.#options = options;
    this.state = options.fresh;
  }

  /**
   * Reads the state of an earlier run.
   *
   * @param isOurs - whether a state belongs to this work. If not, the work starts from its beginning.
   */
  async resume(isOurs: (before: State) => boolean): Promise<void> {
    const { store, signal } = this.#options;
    const before = store && (await untilAborted(store.load(), signal));
    await store?.check?.();
    if (before === undefined || !isOurs(before)) return;
    this.state = { ...this.state, ...before };
    this.isResumed = true;
  }

  /** @throws ConfigurationError about the state. @param what - the rest of the sentence after the name of the state. */
  refuse(what: string, cause?: unknown): never {
    throw new ConfigurationError(`${this.#options.name} ${what}`, { cause });
  }

  /** Whether an earlier run has left its draft. */
  async hasDraft(file: DraftFile): Promise<boolean> {
    return (await sizeOfDraft(file)) !== undefined;
  }

  /**
   * Starts the draft, or continues it after `bytes` if the work is resumed.
   *
   * @throws ConfigurationError if the draft has fewer bytes.
   */
  async openDraft(file: DraftFile, bytes: number): Promise<void> {
    const { path, name, mode } = file;
    if (this.isResumed && ((await sizeOfDraft(file)) ?? -1) < bytes)
      throw new ConfigurationError(
        `${await keptDraftOf(path)} is missing or shorter than ${this.#options.name} requires. To start over, delete the checkpoint`,
      );
    const keepBytes = this.isResumed ? bytes : undefined;
    this.#draft = await openDraft(path, name, { isKept: true, keepBytes, mode });
  }

  /** Appends to the draft. The new bytes count when a state that includes them is saved. */
  async append(block: string | Uint8Array): Promise<void> {
    await this.#draft?.append(block);
  }

  /** Saves a state after syncing the draft. Calls during a save wait for a single save of the newest state. */
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

  /** Ends the work: creates the file from the draft, by default by renaming the draft, and removes the state. */
  async finish(make?: (draftPath: string) => Promise<void>): Promise<void> {
    const draft = this.#draft;
    if (draft !== undefined && make !== undefined) {
      await draft.sync();
      await make(draft.path);
      await draft.remove();
    } else await draft?.commit();
    await this.#options.store?.remove?.();
  }

  /** Leaves the work to a later run. Removes a draft without a saved state, because no run could continue it. */
  async leave(): Promise<void> {
    if (this.state === this.#options.fresh) await this.#draft?.remove();
    await this.#draft?.discard();
  }
}
