import type { InvalidLine } from "../files/index.ts";

/** A line that could not be read, in place of its record: the checkpoint then counts it like any other. */
export class UnreadableLine {
  readonly line: number;
  readonly text: string;
  readonly error: string;

  constructor(line: number, text: string, error: string) {
    this.line = line;
    this.text = text;
    this.error = error;
  }
}

/** A line that `--rejected` wrote is what it holds: a record, or once more the text that is none. */
const unwrapped = (record: object): object => {
  const { record: number, error, rejected, line = number }: { [field: string]: unknown } = { ...record };
  if (typeof number !== "number" || typeof error !== "string") return record;
  if (typeof rejected === "object" && rejected !== null) return rejected;
  if (typeof rejected !== "string") return record;
  return new UnreadableLine(Number(line), rejected, error);
};

// It begins with the name of the file, which whoever reads the report has just typed.
const unreadable = ({ line, text, error }: InvalidLine): UnreadableLine =>
  new UnreadableLine(line, text, error.issues[0]?.message ?? error.message);

// So many in a row are not a file of records with faults, but a file of something else.
const mostInARow = 1_000;

/**
 * Reads records, with an UnreadableLine where a line holds none.
 *
 * @param read - begins to read, telling each bad line to `onInvalid`.
 * @throws the error of a bad line when 1,000 in a row are bad.
 */
export async function* readableRecords(
  read: (onInvalid: (invalid: InvalidLine) => void) => AsyncIterable<object>,
): AsyncGenerator<object> {
  let bad: UnreadableLine[] = [];
  const takeBad = (): UnreadableLine[] => {
    const taken = bad;
    bad = [];
    return taken;
  };
  const records = read((invalid) => {
    if (bad.push(unreadable(invalid)) > mostInARow) throw invalid.error;
  });
  for await (const record of records) {
    yield* takeBad();
    yield unwrapped(record);
  }
  yield* takeBad();
}
