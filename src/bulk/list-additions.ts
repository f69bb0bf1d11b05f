import { inHalves } from "../batch/in-halves.ts";
import type { ApiError } from "../errors.ts";
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

/** Adds the addresses of rows to a list with one request, unless it refuses one: that must not keep the others out. */
export const addToList = async (rows: readonly Row[], list: ListOf): Promise<void> => {
  const byAddress = new Map<string, Row[]>();
  for (const row of rows) {
    const address = foldAscii(row.item.email);
    byAddress.set(address, [...(byAddress.get(address) ?? []), row]);
  }
  await inHalves([...byAddress.values()], {
    signal: list.signal,
    work: async (addresses) => {
      if (addresses.length > 0) await list.add(addresses.flatMap((same) => same.at(-1)?.item.email ?? []));
    },
    onRefused: async (same, error) => {
      for (const row of same) await list.onRefused(row, error);
    },
  });
};
