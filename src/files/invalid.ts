import { ValidationError } from "../errors.ts";

/** A line that could not be read as a record. */
export interface InvalidLine {
  /** The name of the source: the option `name`, else its path, else `input`. */
  readonly file: string;
  /** The line, counted from 1; for a CSV record with several lines, the first one. */
  readonly line: number;
  /** The text of the line, so that you can store and correct it; empty if it is longer than `maxLineBytes`. */
  readonly text: string;
  /**
   * The error that `readNdjson` or `readCsv` would have thrown. Of the text, its message contains only column names.
   */
  readonly error: ValidationError;
}

/** Handles a bad line. If it throws, the reading ends. */
export type OnInvalid = (invalid: InvalidLine) => void | Promise<void>;

/** A fault and its position. */
export interface Fault {
  readonly line: number;
  readonly text: string;
  readonly problem: string;
  readonly cause?: unknown;
}

/** The error for a line of a file. */
export const lineError = (file: string, fault: Omit<Fault, "text">): ValidationError =>
  new ValidationError(`${file} line ${fault.line}: ${fault.problem}`, {
    cause: fault.cause,
    issues: [{ path: `line ${fault.line}`, message: fault.problem }],
  });

/** How far a reader has come. */
export class ReaderPlace {
  /** Records that were yielded. */
  given = 0;
  #settled = 0;

  /** An earlier run has already reported the first `settled` records and the bad lines among them. */
  pass(settled: number): void {
    this.#settled = settled;
  }

  get isTold(): boolean {
    return this.given < this.#settled;
  }
}

/** Passes bad lines to `onInvalid`, or throws the first one if there is none. */
export const reporter =
  (file: string, onInvalid: OnInvalid | undefined, place: ReaderPlace) =>
  async (fault: Fault): Promise<void> => {
    if (onInvalid === undefined) {
      throw lineError(file, {
        ...fault,
        problem: `${fault.problem}. Correct it, or pass onInvalid to go on past it`,
      });
    }
    if (!place.isTold)
      await onInvalid({ file, line: fault.line, text: fault.text, error: lineError(file, fault) });
  };

/** What is wrong with a line that was not parsed at all. */
export const problemOf = (fault: "too-long" | "not-utf8", maxLineBytes: number): string =>
  fault === "too-long"
    ? `longer than maxLineBytes (${maxLineBytes}); raise it if this line is right`
    : "not UTF-8 text; save the file as UTF-8";
