import { ConfigurationError } from "../errors.ts";
import { unknownKeys } from "../runtime/values.ts";
import type { OnInvalid } from "./invalid.ts";

/** The type that each option must have. */
export type OptionKinds = Readonly<
  Record<string, "function" | "boolean" | "number" | "string" | "object" | "any">
>;

const kindFaults = (options: object, kinds: OptionKinds): string[] =>
  Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const kind = kinds[name] ?? "any";
    if (kind === "any" || value === undefined || (typeof value === kind && value !== null)) return [];
    const given = value === null ? "null" : typeof value;
    return [`${name} must be ${kind === "object" ? "an" : "a"} ${kind}, got ${given}`];
  });

/**
 * Reads the options of a function; null means none.
 *
 * @throws ConfigurationError naming every option that does not exist or has the wrong kind of value.
 */
export const knownOptions = <T extends object>(
  caller: string,
  given: T | null | undefined,
  kinds: OptionKinds,
  none: T,
): T => {
  if (given === null || given === undefined) return none;
  if (typeof given !== "object") throw new ConfigurationError(`${caller}: the options must be an object`);
  const faults = [...unknownKeys(given, Object.keys(kinds)), ...kindFaults(given, kinds)];
  if (faults.length > 0) throw new ConfigurationError(`${caller}: ${faults.join("; ")}`);
  return given;
};

/** Options of both readers. */
export interface ReadOptions {
  /** Called and awaited for each bad line; reading then continues. Without it, the first bad line throws. */
  readonly onInvalid?: OnInvalid | undefined;
  /** The longest line (in CSV: record) to keep in memory, in bytes. Default 10 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Whether the source is compressed with gzip. Default: if it starts like gzip. A name that ends with `.gz` requires it. */
  readonly gzip?: boolean | undefined;
  /** The name of the source in error messages. Default: its path, or `input`. */
  readonly name?: string | undefined;
}

/** The options of both readers. */
export const readKinds = {
  onInvalid: "function",
  // It has its own check with a better message.
  maxLineBytes: "any",
  gzip: "boolean",
  name: "string",
} as const satisfies OptionKinds;

const defaultMaxLineBytes = 10 * 1024 * 1024;

/** The limit for a line, checked. */
export const maxLineBytesOf = ({ maxLineBytes = defaultMaxLineBytes }: ReadOptions): number => {
  if (Number.isSafeInteger(maxLineBytes) && maxLineBytes > 0) return maxLineBytes;
  throw new ConfigurationError(`maxLineBytes must be a whole number > 0, got ${maxLineBytes}`);
};

/** Options of both writers. */
export interface WriteOptions {
  /**
   * The path of a file that stores the progress of an export of a list such as `client.contacts.list()`. You can kill
   * the export at any time and start it again with the same arguments: every record is in the file once, and no page is
   * read twice. The file is written as `<path>.partial`. When it is complete, it is renamed and the checkpoint is
   * deleted.
   */
  readonly checkpoint?: string | undefined;
  /** Whether to compress with gzip. Default: if the path ends with `.gz`. */
  readonly gzip?: boolean | undefined;
  /**
   * Called and awaited after each block of records was written to the file. Records that were read from the source but
   * not counted here are still in memory. To continue after a crash, use `checkpoint`.
   */
  readonly onWritten?: ((written: Written) => void | Promise<void>) | undefined;
}

/** How much this call wrote; with `checkpoint`, also earlier runs. */
export interface Written {
  /** The number of records written so far. */
  readonly records: number;
  /** Their size before compression, in bytes, with header and line ends. */
  readonly bytes: number;
  /** With `checkpoint`: how many of the records earlier runs wrote. */
  readonly resumed?: number;
}

/** The options of both writers. */
export const writeKinds = {
  checkpoint: "string",
  gzip: "boolean",
  onWritten: "function",
} as const satisfies OptionKinds;

/** The character between cells, checked; default a comma. */
export const delimiterOf = ({ delimiter = "," }: { readonly delimiter?: string | undefined }): string => {
  if (typeof delimiter === "string" && delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new ConfigurationError(
    `delimiter must be one character and neither a quote nor a line end, got ${JSON.stringify(delimiter)}`,
  );
};
