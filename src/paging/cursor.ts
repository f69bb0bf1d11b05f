import { invalid } from "../call/request.ts";
import { isCount, parsedJson } from "../runtime/values.ts";

/** The position of an export. */
export interface CursorState {
  /** The position of the next record at the time when the last page was read. */
  readonly position: number;
  /** The number of records yielded since the export last started from the beginning. */
  readonly read: number;
  /** The length of the longest page. */
  readonly longest: number;
  /** The last yielded ids, oldest first. With them, the export finds its position again after records have moved. */
  readonly recent: readonly string[];
  /** The ids that were yielded before the export last started from the beginning. They are remembered until its end. */
  readonly kept?: readonly string[] | undefined;
  /** The first yielded ids. If they appear again, the list has ended. Cursors of earlier versions don't have them. */
  readonly first?: readonly string[] | undefined;
  /** The query of the list, without `skip` and `limit`. Cursors of earlier versions don't have it. */
  readonly query?: string | undefined;
}

/** A query as text for cursors. Cursors contain it because a cursor of another query would skip records. */
export const queryText = (query: object): string => {
  const { skip: _at, limit: _size, ...own }: { readonly skip?: unknown; readonly limit?: unknown } = query;
  return JSON.stringify(
    Object.entries(own)
      .filter(([, value]) => value !== undefined)
      .sort(),
  );
};

/**
 * Writes a position as a string. You can store the string and pass it to `list(query, { cursor })` in another process.
 */
export const writeCursor = (state: CursorState): string =>
  Buffer.from(JSON.stringify({ v: 1, ...state })).toString("base64url");

const areIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

const isCursorState = (value: unknown): value is CursorState => {
  const fields: { readonly [field in keyof CursorState | "v"]?: unknown } = Object(value);
  const { v, position, read, longest, recent, kept = [], first = [], query = "" } = fields;
  const isComplete = [position, read, longest].every(isCount) && [recent, kept, first].every(areIds);
  return v === 1 && isComplete && typeof query === "string";
};

/** @throws ValidationError when the string is not a cursor of this version, or belongs to another query. */
export const readCursor = (operation: string, cursor: unknown, query?: string): CursorState => {
  const state = parsedJson(Buffer.from(String(cursor), "base64url").toString("utf8"));
  if (!isCursorState(state)) throw invalid(operation, "cursor", "must be the cursor of a page of this list");
  if (state.query !== undefined && state.query !== query) {
    const message = "belongs to a list with another query. Pass the same query again";
    throw invalid(operation, "cursor", message);
  }
  return state;
};
