import { ApiError } from "../errors.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import type { ContactInput } from "../service/contacts.ts";
import type { Entry } from "./resumable.ts";

type Row = Entry<Pick<ContactInput, "email">>;

/** The list that an import fills. */
export interface ListOf {
  /** Adds as many addresses as a request allows. */
  readonly add: (emails: readonly string[]) => Promise<unknown>;
  /** The list refused the address of a row. */
  readonly onRefused: (row: Row, error: ApiError) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

// About the addresses, and not about the list or the service.
const isAboutAnAddress = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 422].includes(error.status);

/** Adds the addresses of rows to a list with one request, unless it refuses one: that must not keep the others out. */
export const addToList = async (rows: readonly Row[], list: ListOf): Promise<void> => {
  const byAddress = new Map<string, Row[]>();
  for (const row of rows) {
    const address = foldAscii(row.item.email);
    byAddress.set(address, [...(byAddress.get(address) ?? []), row]);
  }
  await addOrSplit([...byAddress.values()], list);
};

/** @param rows - the rows of each address. */
const addOrSplit = async (rows: readonly (readonly Row[])[], list: ListOf): Promise<void> => {
  if (rows.length === 0) return;
  try {
    await list.add(rows.flatMap((same) => same.at(-1)?.item.email ?? []));
  } catch (error) {
    // An abort may throw any reason, even the error of another call.
    list.signal?.throwIfAborted();
    if (!isAboutAnAddress(error)) throw error;
    if (rows.length === 1) {
      for (const row of rows.flat()) await list.onRefused(row, error);
      return;
    }
    const half = Math.ceil(rows.length / 2);
    await addOrSplit(rows.slice(0, half), list);
    await addOrSplit(rows.slice(half), list);
  }
};
