import { ConfigurationError } from "../errors.ts";
import { unknownKeys } from "../runtime/values.ts";
import type { OnInvalid } from "./invalid.ts";

/** What the value of each option must be. */
export type OptionKinds = Readonly<
  Record<string, "function" | "boolean" | "number" | "string" | "object" | "any">
>;

const kindFaults = (options: object, kinds: OptionKinds): string[] =>
  Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    const kind = kinds[name] ?? "any";
    const fits = kind === "any" || value === undefined || (typeof value === kind && value !== null);
    return fits
      ? []
      : [
          `${name} must be ${kind === "object" ? "an" : "a"} ${kind}, got ${value === null ? "null" : typeof value}`,
        ];
  });

/**
 * Reads the options of a function; null stands for none.
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
  /** Whether the source is compressed by gzip; default: as its first bytes tell, whatever its name. */
  readonly gzip?: boolean | undefined;
  /** What to call the source in errors; default: its path, or `input`. */
  readonly name?: string | undefined;
}

/** The options of both readers. */
export const readKinds = {
  onInvalid: "function",
  // Told by its own check, which says more.
  maxLineBytes: "any",
  gzip: "boolean",
  name: "string",
} as const satisfies OptionKinds;

const defaultMaxLineBytes = 10 * 1024 * 1024;

/** The cap on a line, checked. */
export const maxLineBytesOf = ({ maxLineBytes = defaultMaxLineBytes }: ReadOptions): number => {
  if (Number.isSafeInteger(maxLineBytes) && maxLineBytes > 0) return maxLineBytes;
  throw new ConfigurationError(`maxLineBytes must be a whole number > 0, got ${maxLineBytes}`);
};

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

/** The character between cells, checked; a comma unless given. */
export const delimiterOf = ({ delimiter = "," }: { readonly delimiter?: string | undefined }): string => {
  if (typeof delimiter === "string" && delimiter.length === 1 && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new ConfigurationError(
    `delimiter must be one character and neither a quote nor a line end, got ${JSON.stringify(delimiter)}`,
  );
};
