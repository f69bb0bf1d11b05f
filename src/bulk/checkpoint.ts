import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { removeOldDrafts, writeFileAtomically } from "../runtime/atomic-file.ts";
import { isMissingFile } from "../runtime/values.ts";

/** How an ingestion gives ids to events that have none. */
interface IdProgress {
  /** `content`, `source:<its name>` or `function`. */
  readonly from: string;
  /** The id of the last settled item; null if it has none. */
  readonly last: string | null;
}

/** The progress of a run, as JSON. */
export interface Checkpoint {
  /** The version of this format. */
  readonly version: 1;
  /** Every item before this one is settled. */
  readonly done: number;
  /** A hash of the last settled item; it identifies the input. */
  readonly last: string | null;
  /** A hash of the API key, if that is a string: another key may be of another workspace. */
  readonly key?: string | undefined;
  /** Only for an ingestion: other ids would record everything again. */
  readonly ids?: IdProgress | undefined;
}

/**
 * A store for checkpoints. Implement it where there are no files, for example in a worker.
 *
 * @example
 * ```ts
 * import type { Checkpoint, CheckpointStore } from "touchpoint-sdk";
 *
 * const saved = new Map<string, Checkpoint>();
 * const store: CheckpointStore = {
 *   load: async () => saved.get("events"),
 *   save: async (state) => void saved.set("events", state),
 * };
 * await client.events.ingest([], { checkpoint: store });
 * ```
 */
export interface CheckpointStore {
  /** Returns the state that was saved last; undefined if there is none. */
  load(): Promise<unknown>;
  /** Saves the state. Resolves when the state would survive a power cut. */
  save(state: Checkpoint): Promise<void>;
}

/** Keeps the checkpoint in a file. */
export const fileCheckpoint = (path: string): CheckpointStore => {
  // A run continues with the same file, even if the program changes its working directory.
  const place = resolve(path);
  return {
    load: async () => {
      let text: string;
      try {
        await removeOldDrafts(place);
        text = await readFile(place, "utf8");
      } catch (cause) {
        if (isMissingFile(cause)) return undefined;
        throw new ConfigurationError(`checkpoint ${path} cannot be read: ${String(cause)}`, { cause });
      }
      return parseCheckpoint(text, `checkpoint ${path}`);
    },
    save: async (state) => {
      try {
        await writeFileAtomically(place, `${JSON.stringify(state)}\n`, 0o600);
      } catch (cause) {
        throw new ConfigurationError(`checkpoint ${path} cannot be written: ${String(cause)}`, { cause });
      }
    },
  };
};

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isIdProgress = (value: unknown): value is IdProgress => {
  const { from, last }: { from?: unknown; last?: unknown } = Object(value);
  return typeof from === "string" && (typeof last === "string" || last === null);
};

/**
 * Reads a stored state.
 *
 * @param name - what the error calls it.
 * @throws ConfigurationError when it is not a checkpoint of this version of the library.
 */
export const readCheckpoint = (state: unknown, name = "the checkpoint"): Checkpoint | undefined => {
  if (state === undefined || state === null) return undefined;
  const { version, done, last, key, ids }: { [K in keyof Checkpoint]?: unknown } = Object(state);
  const fits =
    (typeof last === "string" || last === null) &&
    (key === undefined || typeof key === "string") &&
    (ids === undefined || isIdProgress(ids));
  // Every field was just checked.
  if (version === 1 && isIndex(done) && fits) return state as Checkpoint;
  const why =
    isIndex(version) && version > 1
      ? `was saved by a newer touchpoint-sdk (version ${version} of checkpoints): update it here`
      : "is damaged, or no checkpoint at all: look who else writes there";
  throw new ConfigurationError(`${name} ${why}, or delete it to start over`);
};

/** Reads a stored state from its text, like `readCheckpoint`. */
export const parseCheckpoint = (text: string, name: string): Checkpoint | undefined => {
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`${name} is cut short or no JSON: delete it to start over`, { cause });
  }
  // Something was saved: a null is no checkpoint.
  return readCheckpoint(state ?? {}, name);
};

/** Saves states one after the other. While one is being written, only the newest of the others is kept. */
export class CheckpointWriter {
  readonly #store: CheckpointStore;
  #newest: Checkpoint | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(store: CheckpointStore) {
    this.#store = store;
  }

  /** Resolves when this state, or a newer one, is stored. */
  save(state: Checkpoint): Promise<void> {
    this.#newest = state;
    const stored = this.#last.then(() => this.#writeNewest());
    this.#last = stored.catch(() => undefined);
    return stored;
  }

  async #writeNewest(): Promise<void> {
    const state = this.#newest;
    // An earlier call has already stored a newer state.
    if (state === undefined) return;
    this.#newest = undefined;
    try {
      await this.#store.save(state);
    } catch (error) {
      this.#newest ??= state;
      throw error;
    }
  }
}
