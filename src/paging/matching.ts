import type { Call } from "../call/call.ts";
import { throwIfInvalid } from "../call/request.ts";
import type { CallOptions } from "../options/options.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { isRecord } from "../runtime/values.ts";
import type { Contact } from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import { type PagingOptions, paged } from "./paged.ts";

/** Yields the contacts for which `fits` is true. It reads the complete list, because the service has no such query. */
export async function* contactsWith(
  call: Call,
  { operation, id, options }: Matching,
  fits: (contact: Contact) => boolean,
): AsyncGenerator<Contact, void, undefined> {
  if (typeof id !== "string" || id === "")
    throwIfInvalid(operation, [{ path: "id", message: "must be a non-empty string" }]);
  // Unless `responseValidation` is `strict`, a record may have any shape.
  for await (const contact of paged(call, operations.contacts.list, {}, options ?? {}))
    if (isRecord(contact) && fits(contact)) yield contact;
}

/** Finds the contact with this address, ignoring the case of ASCII letters; null if there is none. */
export const findContact = async (
  call: Call,
  email: string,
  options: CallOptions | undefined,
): Promise<Contact | null> => {
  const address = foldAscii(email);
  // A service that stores addresses in lowercase may match the search text exactly, so also search in lowercase.
  for (const search of new Set([email, address]))
    for await (const contact of paged(call, operations.contacts.list, { search }, options ?? {}, {})) {
      // Unless `responseValidation` is `strict`, a record may have any shape.
      if (typeof contact?.email === "string" && foldAscii(contact.email) === address) return contact;
    }
  return null;
};

/** The id that the contacts have in common, and the options for reading the list. */
interface Matching {
  readonly operation: string;
  readonly id: string;
  readonly options: (CallOptions & PagingOptions) | undefined;
}
