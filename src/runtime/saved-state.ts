import { readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { explained, identityOf, openDraft, removeOldDrafts, writeFileAtomically } from "./atomic-file.ts";
import { isCount, isMissingFile, messageOf } from "./values.ts";

/**
 * Creates the functions that read one kind of state, which stores the progress of a run in version 1 of its format.
 *
 * @param noun - for error messages: `checkpoint`, `snapshot`.
 * @param checks - what each of its fields must be.
 */
export const stateKind = <State extends { readonly version: 1 }>(
  noun: string,
  checks: { readonly [K in Exclude<keyof State, "version">]-?: (value: unknown) => boolean },
) => {
  const fields = Object.entries<(value: unknown) => boolean>(checks);
  const isState = (value: unknown): value is State =>
    Object(value).version === 1 && fields.every(([name, fits]) => fits(Object(value)[name]));

  /**
   * @throws ConfigurationError that starts with `name`, for a value that is not such a state or has a newer version.
   */
  const read = (value: unknown, name: string): State => {
    if (isState(value)) return value;
    const { version }: { version?: unknown } = Object(value);
    const why =
      isCount(version) && version > 1
        ? `was saved by a newer touchpoint-sdk (version ${version} of ${noun}s). Update touchpoint-sdk here to use it`
        : `is damaged or is not a ${noun}. Check whether another program writes to it`;
    throw new ConfigurationError(`${name} ${why}. To start over, delete the ${noun}`);
  };

  /** Reads a state from its JSON text. @throws ConfigurationError as `read` does, and for text that is not JSON. */
  const parse = (text: string, name: string): State => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new ConfigurationError(`${name} is cut short or is not JSON. To start over, delete the ${noun}`, {
        cause,
      });
    }
    return read(value, name);
  };

  return { noun, read, parse };
};

// Separate from stateKind, so that the build leaves this code out of the stores that need no files.
/** Stores a state in a file, as JSON that no other user may read. */
export const stateFile = <State extends { readonly version: 1 }>(
  path: string,
  { noun, parse }: ReturnType<typeof stateKind<State>>,
) => {
  // Resolve the path now, because the program may change its working directory.
  const absolute = resolve(path);
  const name = `${noun} ${path}`;
  /** The identity of the file that this run has read or written; undefined if there is none. */
  let own: string | undefined;
  return {
    load: async (): Promise<State | undefined> => {
      let text: string;
      try {
        await removeOldDrafts(absolute);
        own = await identityOf(absolute);
        text = await readFile(absolute, "utf8");
      } catch (cause) {
        if (isMissingFile(cause)) return undefined;
        throw new ConfigurationError(`${name} cannot be read: ${messageOf(cause)}`, { cause });
      }
      return parse(text, name);
    },
    /** Throws if the state could not be saved, so that a run fails before it sends anything. */
    check: async (): Promise<void> => (await openDraft(absolute, name, { mode: 0o600 })).discard(),
    /** @throws ConfigurationError if another run has saved its state in the file, unless `hasDraft` is set. */
    save: (state: State, hasDraft = false): Promise<void> =>
      explained(name, async () => {
        const current = await identityOf(absolute);
        if (!hasDraft && current !== undefined && current !== own)
          throw new ConfigurationError(
            `${name} was written by another run meanwhile: wait until that run has ended, or give each run a ${noun} of its own`,
          );
        await writeFileAtomically(absolute, `${JSON.stringify(state)}\n`, 0o600);
        own = await identityOf(absolute);
      }),
    remove: (): Promise<void> => rm(absolute, { force: true }),
  };
};
