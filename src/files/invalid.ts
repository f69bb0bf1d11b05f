import { ValidationError } from "../errors.ts";

/** A line that could not be read as a record. */
export interface InvalidLine {
  /** What the source is called: the option `name`, else its path, else `input`. */
  readonly file: string;
  /** Counted from 1; the first one of a CSV record that spans several. */
  readonly line: number;
  /** What stands there, to be put aside and mended; empty when it is longer than `maxLineBytes`. */
  readonly text: string;
  /** What `readNdjson` or `readCsv` would have thrown. Its message holds nothing of the text but column names. */
  readonly error: ValidationError;
}

/** Takes a bad line; what it throws ends the reading. */
export type OnInvalid = (invalid: InvalidLine) => void | Promise<void>;

/** Where a fault is, and what is wrong there. */
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

/** Where a reader stands among its records. */
export class ReaderPlace {
  /** Records handed out. */
  given = 0;
  #settled = 0;

  /** The first `settled` records, and the bad lines among them, were told to an earlier run. */
  pass(settled: number): void {
    this.#settled = settled;
  }

  get isTold(): boolean {
    return this.given < this.#settled;
  }
}

/** Hands bad lines to `onInvalid`, or throws the first one where there is none. */
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

/** What is wrong with a line that never got as far as being parsed. */
export const problemOf = (fault: "too-long" | "not-utf8", maxLineBytes: number): string =>
  fault === "too-long"
    ? `longer than maxLineBytes (${maxLineBytes}); raise it if this line is right`
    : "not UTF-8 text; save the file as UTF-8";
