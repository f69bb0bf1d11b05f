import type { Call } from "../call/call.ts";
import { throwIfInvalid } from "../call/request.ts";
import type { CallOptions } from "../options/options.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { isRecord } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import { type PagingOptions, paged } from "./paged.ts";

/** The contacts of the whole list for which `fits` is true: the service has no query for them. */
export async function* contactsWith(
  call: Call,
  { operation, id, options }: Matching,
  fits: (contact: Contact) => boolean,
): AsyncGenerator<Contact, void, undefined> {
  if (typeof id !== "string" || id === "")
    throwIfInvalid(operation, [{ path: "id", message: "must be a non-empty string" }]);
  // In lenient mode a record may have any shape.
  for await (const contact of paged(call, operations.contacts.list, {}, options ?? {}))
    if (isRecord(contact) && fits(contact)) yield contact;
}

/** The contact with exactly this address, folded; null if there is none. */
export const findContact = async (
  call: Call,
  email: string,
  options: CallOptions | undefined,
): Promise<Contact | null> => {
  const wanted = foldAscii(email);
  // A service that stores addresses in small letters may search for exactly what is given.
  for (const search of new Set([email, wanted]))
    for await (const contact of paged(call, operations.contacts.list, { search }, options ?? {}, {})) {
      // In lenient mode a record may have any shape.
      if (typeof contact?.email === "string" && foldAscii(contact.email) === wanted) return contact;
    }
  return null;
};

/** What the contacts have in common, and how to read them. */
interface Matching {
  readonly operation: string;
  readonly id: string;
  readonly options: (CallOptions & PagingOptions) | undefined;
}
