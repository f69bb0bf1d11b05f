/** A value of a place, and which write made it; both are empty texts where nothing is stored. */
export interface StoredValue {
  readonly version: string;
  readonly value: string;
}

/** The values of some keys, in the order of the keys, and the time of the place in milliseconds. */
export interface StoredValues {
  readonly now: number;
  readonly values: readonly StoredValue[];
}

/** A value to be written over the version `expected`. */
export interface Change extends StoredValue {
  readonly key: string;
  readonly expected: string;
}

/** Why a request to a place failed. */
export interface PlaceFault {
  /** The rest of a sentence that starts with the name of the place. */
  readonly what: string;
  readonly cause: unknown;
  /** Whether waiting cannot help. */
  readonly isLasting: boolean;
}

/** Where values are kept for several processes, each of which may change them if no other process has. */
export interface Place {
  /** How a message names it: `Redis`, `the database`. */
  readonly name: string;
  read(keys: readonly string[]): Promise<StoredValues>;
  /** Writes all changes if every expected version is there. Otherwise it writes none, and returns what is there. */
  write(changes: readonly Change[]): Promise<StoredValues & { readonly isWritten: boolean }>;
  faultOf(error: unknown): PlaceFault;
}
