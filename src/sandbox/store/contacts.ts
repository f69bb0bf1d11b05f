import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { ContactRecord } from "./records.ts";

/** How `GET /contacts` orders. */
export type ContactOrder = "oldest-first" | "newest-first";

/** One page of contacts, and how many match in all. */
interface ContactSlice {
  readonly data: readonly ContactRecord[];
  readonly total: number;
}

/** The contacts of one workspace, in order of creation, with an index for each kind of lookup. */
export interface ContactStore {
  /** Live; do not change it. */
  readonly all: readonly ContactRecord[];
  byId(id: string): ContactRecord | undefined;
  byEmail(email: string): ContactRecord | undefined;
  byExternalId(externalId: string): ContactRecord | undefined;
  add(contact: ContactRecord): void;
  remove(id: string): boolean;
  /** Sets fields and keeps the indexes right. */
  change(contact: ContactRecord, fields: Partial<ContactRecord>): void;
  page(search: string, skip: number, limit: number): ContactSlice;
}

/** Creates an empty store. Without a search, the cost of a page does not depend on the number of contacts. */
export const createContactStore = (order: ContactOrder): ContactStore => {
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

  const cut = (from: readonly ContactRecord[], skip: number, limit: number): ContactSlice => {
    const total = from.length;
    if (order === "oldest-first") return { data: from.slice(skip, skip + limit), total };
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
    all,
    byId: (id) => ids.get(id),
    byEmail: (email) => emails.get(foldAscii(email)),
    byExternalId: (externalId) => externalIds.get(externalId),
    add(contact) {
      all.push(contact);
      ids.set(contact.id, contact);
      index(contact);
    },
    remove(id) {
      const contact = ids.get(id);
      if (contact === undefined) return false;
      all.splice(all.indexOf(contact), 1);
      ids.delete(id);
      unindex(contact);
      return true;
    },
    change(contact, fields) {
      unindex(contact);
      Object.assign(contact, fields);
      index(contact);
    },
    page: (search, skip, limit) => cut(search === "" ? all : matching(search), skip, limit),
  };
};
