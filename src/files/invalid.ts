import { ValidationError } from "../errors.ts";
import type { LineFault } from "../runtime/lines.ts";
import { markLine, withSettled } from "../runtime/source-line.ts";
import { type UnsafeNumber, unsafeIssue } from "../runtime/unsafe-numbers.ts";

/** A line that could not be read as a record. */
export interface InvalidLine {
  /** The name of the source: the option `name`, otherwise its path, otherwise `input`. */
  readonly file: string;
  /** The line number, counted from 1. For a CSV record with several lines, the number of the first line. */
  readonly line: number;
  /** The text of the line, so that you can store and correct it; empty if it is longer than `maxLineBytes`. */
  readonly text: string;
  /**
   * The error that the reader throws without `onInvalid`. Its message can contain column names, a number that is too
   * large for JSON, a value that is not of its type in `types`, and the message of an error in `cast`.
   */
  readonly error: ValidationError;
}

/** Handles a bad line. If it throws, the reading ends. */
export type OnInvalid = (invalid: InvalidLine) => void | Promise<void>;

/** Why a line cannot be read, and the error that caused this, if there is one. */
export interface Fault {
  readonly problem: string;
  readonly cause?: unknown;
}

export const lineError = (file: string, line: number, { problem, cause }: Fault): ValidationError =>
  new ValidationError(`${file} line ${line}: ${problem}`, {
    cause,
    issues: [{ path: `line ${line}`, message: problem }],
  });

/**
 * Yields the records of lines, marked with their line numbers. `onInvalid` gets bad lines. Without it, the first one
 * throws.
 *
 * @param parse - converts a line to a record or a fault; undefined for a line to ignore.
 */
export const recordsOf = <Line extends { readonly line: number; readonly text: string }>(
  file: string,
  batches: AsyncIterable<readonly Line[]>,
  parse: (line: Line) => { readonly record: object } | Fault | undefined,
  onInvalid: OnInvalid | undefined,
): AsyncGenerator<object> => {
  let settled = 0;
  async function* records(): AsyncGenerator<object> {
    let yielded = 0;
    for await (const lines of batches) {
      for (const line of lines) {
        const parsed = parse(line);
        if (parsed === undefined) continue;
        if ("record" in parsed) {
          yielded += 1;
          yield markLine(parsed.record, line.line);
        } else if (onInvalid === undefined) {
          const problem = `${parsed.problem}. Correct it, or pass onInvalid to skip it`;
          throw lineError(file, line.line, { ...parsed, problem });
        } else if (yielded >= settled) {
          const error = lineError(file, line.line, parsed);
          await onInvalid({ file, line: line.line, text: line.text, error });
        }
      }
    }
  }
  // An earlier run has settled the first `count` records, and has already reported the bad lines among them.
  return withSettled(records(), (count) => {
    settled = count;
  });
};

/** Describes the fault of a line with a number that would lose digits in JSON. */
export const unsafeProblem = (number: UnsafeNumber): string => {
  const { path, message } = unsafeIssue(number);
  return `${path}: ${message}; write it as text`;
};

/** Describes the fault of a line that was not parsed at all. */
export const problemOf = (fault: LineFault, maxLineBytes: number): string =>
  ({
    "too-long": `longer than maxLineBytes (${maxLineBytes}); increase it if this line is correct`,
    "not-utf8": "not UTF-8 text; save the file as UTF-8, or set its encoding, for example windows-1252",
    controls: "it has control characters: its encoding seems to be another than you have set",
  })[fault];
