import { readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { explained, removeOldDrafts, writeFileAtomically } from "./atomic-file.ts";
import { isCount, isMissingFile, messageOf } from "./values.ts";

/** A kind of state that says how far a run has come. */
export interface StateKind<State> {
  /** For error messages: `checkpoint`, `snapshot`. */
  readonly noun: string;
  /** Whether a value is such a state, of the version that this library writes. */
  readonly fits: (value: unknown) => value is State;
}

/** A kind of state, of version 1. @param checks - what each of its fields must be. */
export const stateKind = <State extends { readonly version: 1 }>(
  noun: string,
  checks: { readonly [K in Exclude<keyof State, "version">]-?: (value: unknown) => boolean },
): StateKind<State> => ({
  noun,
  fits: (value): value is State =>
    Object(value).version === 1 &&
    Object.entries<(value: unknown) => boolean>(checks).every(([name, fits]) => fits(Object(value)[name])),
});

/** @throws ConfigurationError, by its name, for a value that is no such state, or of a newer version. */
export const readState = <State>(value: unknown, name: string, { noun, fits }: StateKind<State>): State => {
  if (fits(value)) return value;
  const { version }: { version?: unknown } = Object(value);
  const why =
    isCount(version) && version > 1
      ? `was saved by a newer touchpoint-sdk (version ${version} of ${noun}s): update it here`
      : `is damaged, or no ${noun} at all: look who else writes there`;
  throw new ConfigurationError(`${name} ${why}, or delete it to start over`);
};

/** Reads a state from its text, like `readState`. */
export const parseState = <State>(text: string, name: string, kind: StateKind<State>): State => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`${name} is cut short or no JSON: delete it to start over`, { cause });
  }
  return readState(value, name, kind);
};

/** Keeps a state in a file, as JSON that no other user may read. */
export const stateFile = <State>(path: string, kind: StateKind<State>) => {
  // A run continues with the same file, even if the program changes its working directory.
  const place = resolve(path);
  const name = `${kind.noun} ${path}`;
  return {
    load: async (): Promise<State | undefined> => {
      let text: string;
      try {
        await removeOldDrafts(place);
        text = await readFile(place, "utf8");
      } catch (cause) {
        if (isMissingFile(cause)) return undefined;
        throw new ConfigurationError(`${name} cannot be read: ${messageOf(cause)}`, { cause });
      }
      return parseState(text, name, kind);
    },
    save: (state: State): Promise<void> =>
      explained(name, () => writeFileAtomically(place, `${JSON.stringify(state)}\n`, 0o600)),
    remove: (): Promise<void> => rm(place, { force: true }),
  };
};
