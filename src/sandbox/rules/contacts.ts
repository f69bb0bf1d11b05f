import type { Reply } from "../answer.ts";
import { addContact, changeContact } from "../store/workspace.ts";
import { bodyFields, type Call, notFound } from "./call.ts";
import { readContactFields } from "./contact-fields.ts";
import { readPaging } from "./paging.ts";
import { readAddress } from "./values.ts";

/** Creates a contact. The success status is not documented; 201 is the usual one. */
export const createContact = (call: Call): Reply => {
  const body = bodyFields(call);
  const email = readAddress(body.email, "email");
  const contact = addContact(call.workspace, { ...readContactFields(body, call.workspace), email });
  return { status: 201, body: contact };
};

/** Returns one page of contacts. */
export const listContacts = ({ workspace, query }: Call): Reply => {
  const { skip, limit } = readPaging(query);
  const { data, total } = workspace.contacts.page(query.get("search") ?? "", skip, limit);
  return { status: 200, body: { data, total, skip, limit } };
};

/** Changes a contact by the six PATCH rules. */
export const updateContact = (call: Call): Reply => {
  const contact = call.workspace.contacts.byId(call.id);
  if (contact === undefined) throw notFound("contact");
  changeContact(call.workspace, contact, readContactFields(bodyFields(call), call.workspace, contact));
  return { status: 200, body: contact };
};
