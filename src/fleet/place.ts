/** A value of a place, and the version that its write gave it; both are empty strings if nothing is stored. */
export interface StoredValue {
  readonly version: string;
  readonly value: string;
}

/** The values of some keys, in the order of the keys, and the time of the place in milliseconds. */
export interface StoredValues {
  readonly now: number;
  readonly values: readonly StoredValue[];
}

/** A value to write if the stored version is still `expected`. */
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

/**
 * A store of values for several processes. A process may change a value if no other process has changed it meanwhile.
 */
export interface Place {
  /** The name of the place in error messages: `Redis`, `the database`. */
  readonly name: string;
  read(keys: readonly string[]): Promise<StoredValues>;
  /**
   * Writes all changes if every stored version is the expected one. Otherwise writes none, and returns the stored
   * values.
   */
  write(changes: readonly Change[]): Promise<StoredValues & { readonly isWritten: boolean }>;
  faultOf(error: unknown): PlaceFault;
}
