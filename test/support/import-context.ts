import { ConflictError } from "../../src/errors.ts";
import { aContact } from "./builders.ts";
import type { Answering } from "./scripted-call.ts";

/** The result for a row. To update a contact or leave it unchanged, the import first gets a conflict from its creation. */
export type RowResult = "created" | "updated" | "unchanged";

/** Answers the requests of an import into a workspace that lists no contact. */
export const emptyWorkspace = (
  create: (email: string) => Promise<RowResult>,
  addContacts: (emails: readonly string[]) => Promise<unknown>,
): Answering => {
  const contacts = new Map<string, object>();
  return async (operation, payload) => {
    const { email, search, emails, ...fields } = Object(payload);
    if (operation.id === "lists.addContacts") return addContacts(emails);
    if (operation.id === "contacts.update") return { ...[...contacts.values()].at(-1), ...fields };
    if (operation.id === "contacts.list") {
      const contact = contacts.get(search);
      return { data: contact ? [contact] : [], total: contact ? 1 : 0, skip: 0, limit: 200 };
    }
    const contact = aContact(email, { email, ...fields });
    const result = await create(email);
    if (result === "created") return contact;
    contacts.set(email, result === "unchanged" ? contact : { ...contact, title: "before" });
    throw new ConflictError("taken", {
      ...{ operation: operation.id, outcome: "not-applied", status: 409 },
      ...{ headers: new Headers(), body: undefined },
    });
  };
};
