import { contentHash } from "./content-hash.ts";
import { stateKind } from "./saved-state.ts";
import { isCount, isString, isStringOrNull } from "./values.ts";

/** The progress of a run, as JSON. */
export interface Checkpoint {
  /** The version of this format. */
  readonly version: 1;
  /** The number of settled items, counted from the start of the input. */
  readonly done: number;
  /** Set once an item was refused. */
  readonly rejected?: true | undefined;
  /** A hash of the last settled item; it identifies the input. */
  readonly last: string | null;
  /** A hash of the API key, because another key may belong to another workspace. Undefined for a key function. */
  readonly key?: string | undefined;
  /**
   * The origin of event ids; only for an ingestion, because other ids would record everything again. `from` is
   * `content`, `source:<its name>` or `function`. `last` is the id of the last settled item; null if it has none.
   */
  readonly ids?: { readonly from: string; readonly last: string | null } | undefined;
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
  /** Returns the last saved state; undefined if there is none. */
  load(): Promise<unknown>;
  /** Saves the state. Resolves when the state would survive a power cut. */
  save(state: Checkpoint): Promise<void>;
}

/**
 * Returns a hash of the API key, because a key belongs to one workspace. Undefined for a key function: its keys change.
 */
export const keyHash = ({ apiKey }: { readonly apiKey: unknown }): string | undefined =>
  typeof apiKey === "string" ? contentHash(`checkpoint ${apiKey}`).slice(0, 16) : undefined;

/** Reads checkpoints. */
export const checkpoints = stateKind<Checkpoint>("checkpoint", {
  done: isCount,
  last: isStringOrNull,
  rejected: (value) => value === undefined || value === true,
  key: (value) => value === undefined || isString(value),
  ids: (value) => value === undefined || (isString(Object(value).from) && isStringOrNull(Object(value).last)),
});

/**
 * Checks the state that a store has loaded.
 *
 * @throws ConfigurationError when it is not a checkpoint of this version of the library.
 */
export const readCheckpoint = (state: unknown, name = "the checkpoint"): Checkpoint | undefined =>
  state === undefined || state === null ? undefined : checkpoints.read(state, name);
