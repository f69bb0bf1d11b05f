import { Refusal } from "../answer.ts";
import { has } from "../json.ts";
import type { ContactRecord } from "../store/records.ts";
import { addContact, changeContact, type Workspace } from "../store/workspace.ts";
import { notFound } from "./call.ts";
import { readContactFields } from "./contact-fields.ts";
import type { EventDraft } from "./event-checks.ts";
import { readAddress, readText } from "./values.ts";

/** The contact of an event, and whether the event created it. */
export interface EventPerson {
  readonly contact: ContactRecord | undefined;
  readonly created: boolean;
}

const findById = (id: unknown, workspace: Workspace): ContactRecord => {
  const contact = workspace.contacts.byId(readText(id, "contact.id"));
  if (contact === undefined) throw notFound("contact");
  return contact;
};

/**
 * Finds or creates the person of an event, saves their `externalId` and sets `contactFields`.
 *
 * @throws Refusal 400 for invalid values, 404 for an unknown `contact.id`, 409 when the identifiers belong to
 * different contacts.
 */
export const settlePerson = (event: EventDraft, workspace: Workspace): EventPerson => {
  const { person } = event;
  const email = has(person, "email") ? readAddress(person.email, "contact.email") : undefined;
  const externalId = has(person, "externalId")
    ? readText(person.externalId, "contact.externalId")
    : undefined;
  const found = [
    has(person, "id") ? findById(person.id, workspace) : undefined,
    email === undefined ? undefined : workspace.contacts.byEmail(email),
    externalId === undefined ? undefined : workspace.contacts.byExternalId(externalId),
  ].filter((contact) => contact !== undefined);
  const [known] = found;
  if (found.some((contact) => contact !== known)) {
    throw new Refusal(409, "The email and the externalId belong to two different contacts.");
  }

  const fields = readContactFields(event.contactFields, workspace, known);
  if (externalId !== undefined) fields.externalId = externalId;
  if (known !== undefined) {
    if (Object.keys(fields).length > 0) changeContact(workspace, known, fields);
    return { contact: known, created: false };
  }
  // A person without an address cannot be created.
  if (email === undefined || !event.createContact) return { contact: undefined, created: false };
  return { contact: addContact(workspace, { ...fields, email }), created: true };
};
