import { ConfigurationError } from "../errors.ts";
import type { OnInvalid } from "./invalid.ts";
import type { OptionKinds } from "./known-options.ts";

/** What both readers take. */
export interface ReadOptions {
  /** Called for each bad line, and awaited; reading then goes on. Without it the first bad line is thrown. */
  readonly onInvalid?: OnInvalid | undefined;
  /** The longest line (in CSV: record) to hold in memory, in bytes; default 10 MiB. */
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
