import {
  must,
  mustBeBoolean,
  mustBeFunction,
  mustBeString,
  mustBeWhole,
  type Rules,
  readOptions,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import type { OnInvalid } from "./invalid.ts";

/**
 * Reads the options of a function; null means none.
 *
 * @throws ConfigurationError naming every option that does not exist or has the wrong kind of value.
 */
export const knownOptions = <T extends object>(
  caller: string,
  input: Partial<T> | null | undefined,
  rules: Rules,
): Partial<T> => {
  const options = readOptions(input, rules);
  refuseSetup(caller, ruleFaults(options, rules));
  return options;
};

/** Options of all readers. */
export interface ReadOptions {
  /** Called and awaited for each bad line; reading then continues. Without it, the first bad line throws. */
  readonly onInvalid?: OnInvalid | undefined;
  /** The maximum length of a line (in CSV: of a record) in bytes. Default 10 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** The name of the source in error messages. Default: the path of the source, or `input`. */
  readonly name?: string | undefined;
  /**
   * The encoding of the text, by a name that TextDecoder knows, such as `windows-1252`. Default: UTF-8. A byte order
   * mark of UTF-8 or UTF-16 at the start of the file takes precedence. A file that is UTF-8, or a line with control
   * characters that text has only in a wrong encoding, is refused.
   */
  readonly encoding?: string | undefined;
}

const isEncoding = (value: unknown): boolean => {
  try {
    return typeof value === "string" && new TextDecoder(value).encoding !== "";
  } catch {
    return false;
  }
};

const mustBeEncoding = must("one that this runtime supports, for example windows-1252", isEncoding);

export const readRules: Rules = {
  onInvalid: mustBeFunction,
  maxLineBytes: mustBeWhole(1),
  name: mustBeString,
  encoding: (value, name) => {
    const advice =
      typeof value === "string" ? `. Convert the file: iconv -f ${value} -t utf-8 FILE > utf8.csv` : "";
    return mustBeEncoding(value, name).map((fault) => fault + advice);
  },
};

export const defaultMaxLineBytes = 10 * 1024 * 1024;

/** Options of both writers. */
export interface WriteOptions {
  /**
   * The path of a file that stores the progress of an export of a list such as `client.contacts.list()`. You can kill
   * the export at any time and start it again with the same arguments. It then continues after the last saved page, and
   * every record is in the file once. Until the export is complete, it writes to the draft `<path>.partial`. At the
   * end, it renames the draft and deletes the checkpoint.
   */
  readonly checkpoint?: string | undefined;
  /** Whether to compress with gzip. Default: whether the path ends with `.gz`. */
  readonly gzip?: boolean | undefined;
  /**
   * Called and awaited after each block of records is written to the file. Records that the writer has read from the
   * source but not counted here are still in memory. To continue after a crash, use `checkpoint`.
   */
  readonly onWritten?: ((written: Written) => void | Promise<void>) | undefined;
}

/** How much was written so far. With `checkpoint`, the numbers include earlier runs. */
export interface Written {
  /** The number of records written so far. */
  readonly records: number;
  /** The size of the text before compression, in bytes, including the header and line breaks. */
  readonly bytes: number;
  /** The number of these records that earlier runs wrote; only with `checkpoint`. */
  readonly resumed?: number;
}

export const writeRules: Rules = { checkpoint: mustBeString, gzip: mustBeBoolean, onWritten: mustBeFunction };

export const mustBeDelimiter = must(
  "one character, but not a quote or a line break",
  (value) => typeof value === "string" && value.length === 1 && !/["\r\n]/.test(value),
);
