import { ValidationError } from "../errors.ts";

/** The position of an export. */
export interface Place {
  /** The number of records before the next one, when the last page was read. */
  readonly position: number;
  /** The number of records yielded since the export last started from the beginning. */
  readonly read: number;
  /** The length of the longest page. */
  readonly longest: number;
  /** The last yielded ids, oldest first. They find the position again after records have moved. */
  readonly recent: readonly string[];
  /** The first yielded ids: if they come again, the list has ended. Cursors of earlier versions have none. */
  readonly first?: readonly string[] | undefined;
}

const areIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

/** A position as a string, which you can store and pass to `list(query, { cursor })` in another process. */
export const writeCursor = (place: Place): string =>
  Buffer.from(JSON.stringify({ v: 1, ...place })).toString("base64url");

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isPlace = (value: unknown): value is Place => {
  if (typeof value !== "object" || value === null) return false;
  const { v, position, read, longest, recent, first }: { [field in keyof Place | "v"]?: unknown } = value;
  if (v !== 1 || !isCount(position) || !isCount(read) || !isCount(longest)) return false;
  return areIds(recent) && (first === undefined || areIds(first));
};

/** @throws ValidationError when the string is not a cursor of this version. */
export const readCursor = (operation: string, cursor: unknown): Place => {
  try {
    const place: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString("utf8"));
    if (isPlace(place)) return place;
  } catch {
    // Reported below, together with a wrong shape.
  }
  const message = "must be a cursor that a page of this list carried";
  throw new ValidationError(`${operation}: cursor: ${message}`, {
    operation,
    issues: [{ path: "cursor", message }],
  });
};
