import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { SandboxOptions } from "../options.ts";
import type { ContactRecord } from "./records.ts";

/**
 * The contacts of one workspace, in order of creation, with an index for each kind of lookup. Without a search, the
 * cost of a page does not depend on the number of contacts.
 */
export const createContactStore = (order: SandboxOptions["order"]) => {
  const all: ContactRecord[] = [];
  const ids = new Map<string, ContactRecord>();
  const emails = new Map<string, ContactRecord>();
  const externalIds = new Map<string, ContactRecord>();

  const index = (contact: ContactRecord): void => {
    emails.set(foldAscii(contact.email), contact);
    if (contact.externalId !== undefined) externalIds.set(contact.externalId, contact);
  };
  const unindex = (contact: ContactRecord): void => {
    emails.delete(foldAscii(contact.email));
    if (contact.externalId !== undefined) externalIds.delete(contact.externalId);
  };

  const cut = (from: readonly ContactRecord[], skip: number, limit: number) => {
    const total = from.length;
    if (order !== "newest-first") return { data: from.slice(skip, skip + limit), total };
    const end = Math.max(0, total - skip);
    return { data: from.slice(Math.max(0, end - limit), end).reverse(), total };
  };

  const matching = (search: string): readonly ContactRecord[] => {
    const exact = emails.get(foldAscii(search));
    if (exact !== undefined) return [exact];
    const wanted = search.toLowerCase();
    return all.filter(
      ({ email, name }) =>
        email.toLowerCase().includes(wanted) || (name?.toLowerCase().includes(wanted) ?? false),
    );
  };

  return {
    /** The live array; do not change it. */
    all,
    byId: (id: string) => ids.get(id),
    byEmail: (email: string) => emails.get(foldAscii(email)),
    byExternalId: (externalId: string) => externalIds.get(externalId),
    add(contact: ContactRecord) {
      all.push(contact);
      ids.set(contact.id, contact);
      index(contact);
    },
    remove(id: string) {
      const contact = ids.get(id);
      if (contact === undefined) return false;
      all.splice(all.indexOf(contact), 1);
      ids.delete(id);
      unindex(contact);
      return true;
    },
    /** Sets fields and updates the indexes. */
    change(contact: ContactRecord, fields: Partial<ContactRecord>) {
      unindex(contact);
      Object.assign(contact, fields);
      index(contact);
    },
    /** Returns one page, and the total number of matches. */
    page: (search: string, skip: number, limit: number) =>
      cut(search === "" ? all : matching(search), skip, limit),
  };
};
