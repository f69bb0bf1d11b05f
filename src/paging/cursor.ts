import { invalid } from "../call/request.ts";
import { isCount, parsedJson } from "../runtime/values.ts";

/** The position of an export. */
export interface CursorState {
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

/** A position as a string, which you can store and pass to `list(query, { cursor })` in another process. */
export const writeCursor = (state: CursorState): string =>
  Buffer.from(JSON.stringify({ v: 1, ...state })).toString("base64url");

const areIds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

const isPlace = (value: unknown): value is CursorState => {
  const fields: { readonly [field in keyof CursorState | "v"]?: unknown } = Object(value);
  const { v, position, read, longest, recent, kept = [], first = [], query = "" } = fields;
  const isWhole = [position, read, longest].every(isCount) && [recent, kept, first].every(areIds);
  return v === 1 && isWhole && typeof query === "string";
};

/** @throws ValidationError when the string is not a cursor of this version, or of another query. */
export const readCursor = (operation: string, cursor: unknown, query?: string): CursorState => {
  const state = parsedJson(Buffer.from(String(cursor), "base64url").toString("utf8"));
  if (!isPlace(state))
    throw invalid(operation, "cursor", "must be a cursor that a page of this list carried");
  if (state.query !== undefined && state.query !== query) {
    const message = "belongs to a list with another query: give the same query again";
    throw invalid(operation, "cursor", message);
  }
  return state;
};
