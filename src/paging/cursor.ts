import { ValidationError } from "../errors.ts";

/** Where an export stands. */
export interface Place {
  /** How many records came before the next one, when the last page was read. */
  readonly position: number;
  /** How many records were yielded since the walk last began again. */
  readonly read: number;
  /** How many records the longest page held. */
  readonly longest: number;
  /** The last ids yielded, oldest first; they find the place again when records have moved. */
  readonly recent: readonly string[];
  /** The first ids yielded; where they come again the list is at its end. Cursors of earlier versions have none. */
  readonly first?: readonly string[] | undefined;
}

const areIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

/** A place as a string that can be stored and given to `list(query, { cursor })` in another process. */
export const writeCursor = (place: Place): string =>
  Buffer.from(JSON.stringify({ v: 1, ...place })).toString("base64url");

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isPlace = (value: unknown): value is Place => {
  if (typeof value !== "object" || value === null) return false;
  const { v, position, read, longest, recent, first }: { [field in keyof Place | "v"]?: unknown } = value;
  if (v !== 1 || !isCount(position) || !isCount(read) || !isCount(longest)) return false;
  return areIds(recent) && (first === undefined || areIds(first));
};

/** @throws ValidationError when the string is no cursor of this version. */
export const readCursor = (operation: string, cursor: unknown): Place => {
  try {
    const place: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString("utf8"));
    if (isPlace(place)) return place;
  } catch {
    // Told below, together with a wrong shape.
  }
  const message = "must be a cursor that a page of this list carried";
  throw new ValidationError(`${operation}: cursor: ${message}`, {
    operation,
    issues: [{ path: "cursor", message }],
  });
};
