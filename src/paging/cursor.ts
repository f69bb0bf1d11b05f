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
  /** The ids that were yielded before the export last started from the beginning; they stay known to its end. */
  readonly kept?: readonly string[] | undefined;
  /** The first yielded ids: if they come again, the list has ended. Cursors of earlier versions have none. */
  readonly first?: readonly string[] | undefined;
  /** The query of the list, without its page. Cursors of earlier versions have none. */
  readonly query?: string | undefined;
}

/** A query as cursors keep it: a cursor of another query would leave records out. */
export const queryText = (query: object): string => {
  const { skip: _at, limit: _size, ...own }: { readonly skip?: unknown; readonly limit?: unknown } = query;
  return JSON.stringify(
    Object.entries(own)
      .filter(([, value]) => value !== undefined)
      .sort(),
  );
};

const areIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

/** A position as a string, which you can store and pass to `list(query, { cursor })` in another process. */
export const writeCursor = (place: Place): string =>
  Buffer.from(JSON.stringify({ v: 1, ...place })).toString("base64url");

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const isPlace = (value: unknown): value is Place => {
  if (typeof value !== "object" || value === null) return false;
  const {
    v,
    position,
    read,
    longest,
    recent,
    kept,
    first,
    query,
  }: { [field in keyof Place | "v"]?: unknown } = value;
  if (query !== undefined && typeof query !== "string") return false;
  if (v !== 1 || !isCount(position) || !isCount(read) || !isCount(longest)) return false;
  return [recent, kept ?? [], first ?? []].every(areIds);
};

const refusal = (operation: string, message: string): ValidationError =>
  new ValidationError(`${operation}: cursor: ${message}`, {
    operation,
    issues: [{ path: "cursor", message }],
  });

/** @throws ValidationError when the string is not a cursor of this version, or of another query. */
export const readCursor = (operation: string, cursor: unknown, query?: string): Place => {
  const place = parsed(cursor);
  if (place === undefined) throw refusal(operation, "must be a cursor that a page of this list carried");
  if (place.query !== undefined && place.query !== query)
    throw refusal(operation, "belongs to a list with another query: give the same query again");
  return place;
};

const parsed = (cursor: unknown): Place | undefined => {
  try {
    const place: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString("utf8"));
    return isPlace(place) ? place : undefined;
  } catch {
    return undefined;
  }
};
