import { readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { explained, identityOf, openDraft, removeOldDrafts, writeFileAtomically } from "./atomic-file.ts";
import { isCount, isMissingFile, messageOf } from "./values.ts";

/**
 * A kind of state that says how far a run has come, of version 1.
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

  /** @throws ConfigurationError, by its name, for a value that is no such state, or of a newer version. */
  const read = (value: unknown, name: string): State => {
    if (isState(value)) return value;
    const { version }: { version?: unknown } = Object(value);
    const why =
      isCount(version) && version > 1
        ? `was saved by a newer touchpoint-sdk (version ${version} of ${noun}s): update it here`
        : `is damaged or is not a ${noun}: check whether another program writes to it`;
    throw new ConfigurationError(`${name} ${why}, or delete it to start over`);
  };

  /** Reads a state from its text, likewise. */
  const parse = (text: string, name: string): State => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new ConfigurationError(`${name} is cut short or no JSON: delete it to start over`, { cause });
    }
    return read(value, name);
  };

  return { noun, read, parse };
};

// Not a method of the kind: then stores that need no file would load this, too.
/** Keeps a state in a file, as JSON that no other user may read. */
export const stateFile = <State extends { readonly version: 1 }>(
  path: string,
  { noun, parse }: ReturnType<typeof stateKind<State>>,
) => {
  // A run continues with the same file, even if the program changes its working directory.
  const absolute = resolve(path);
  const name = `${noun} ${path}`;
  /** The file that this run has read or written; undefined if there is none. */
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
    /** Throws if it could not be saved: found out here, before anything is sent. */
    check: async (): Promise<void> => (await openDraft(absolute, name, { mode: 0o600 })).discard(),
    /** @throws ConfigurationError if another run has saved its state there since, unless this run has the draft. */
    save: (state: State, hasDraft = false): Promise<void> =>
      explained(name, async () => {
        const there = await identityOf(absolute);
        if (!hasDraft && there !== undefined && there !== own)
          throw new ConfigurationError(
            `${name} was written by another run meanwhile: wait until that has ended, or give each run a ${noun} of its own`,
          );
        await writeFileAtomically(absolute, `${JSON.stringify(state)}\n`, 0o600);
        own = await identityOf(absolute);
      }),
    remove: (): Promise<void> => rm(absolute, { force: true }),
  };
};
