import type { OptionKinds } from "./known-options.ts";

/** What both writers take. */
export interface WriteOptions {
  /**
   * Adds to the file instead of replacing it, for an export that goes on after it was stopped; default false.
   *
   * What a killed run left of a last record is cut away first. Only for plain files that these functions wrote.
   * Records go to the file in blocks of 64 KiB, and whenever the source makes them wait for the next one.
   */
  readonly append?: boolean | undefined;
  /** Whether to compress; default: whether the path ends with `.gz`. */
  readonly gzip?: boolean | undefined;
  /**
   * Called each time a block of records has been handed to the file, and awaited: the place to save the cursor of
   * an export that uses `append`. Records taken from the source but not counted here are still in memory.
   */
  readonly onWritten?: ((written: Written) => void | Promise<void>) | undefined;
}

/** How much was written by this call; what `append` found in the file is not counted. */
export interface Written {
  /** Records handed to the file so far, or in all. */
  readonly records: number;
  /** Their bytes before compression, with header and line ends. */
  readonly bytes: number;
}

/** The options of both writers. */
export const writeKinds = {
  append: "boolean",
  gzip: "boolean",
  onWritten: "function",
} as const satisfies OptionKinds;
