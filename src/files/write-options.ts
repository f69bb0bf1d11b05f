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
  /**
   * The path of a file that keeps how far the export has come, beside a list such as `client.contacts.list()`. Killed
   * at any instant and started again with the same arguments, every record is in the file once, and what was read is
   * not read again. The file grows as `<path>.partial`; when it has its name, the checkpoint is gone.
   */
  readonly checkpoint?: string | undefined;
  /** Whether to compress; default: whether the path ends with `.gz`. */
  readonly gzip?: boolean | undefined;
  /**
   * Called each time a block of records has been handed to the file, and awaited. Records taken from the source but not
   * counted here are still in memory. To go on after a crash use `checkpoint`.
   */
  readonly onWritten?: ((written: Written) => void | Promise<void>) | undefined;
}

/** How much was written by this call, and with `checkpoint` by those before; what `append` found is not counted. */
export interface Written {
  /** Records handed to the file so far, or in all. */
  readonly records: number;
  /** Their bytes before compression, with header and line ends. */
  readonly bytes: number;
  /** With `checkpoint`: how many of the records earlier runs had written. */
  readonly resumed?: number;
}

/** The options of both writers. */
export const writeKinds = {
  append: "boolean",
  checkpoint: "string",
  gzip: "boolean",
  onWritten: "function",
} as const satisfies OptionKinds;
