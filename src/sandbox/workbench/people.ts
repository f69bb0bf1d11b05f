import type { Exchange, Journal } from "../journal.ts";
import type { ContactRecord, EventRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Rows, selectRows, shows } from "./rows.ts";

export type ContactRow = Pick<ContactRecord, "id" | "email" | "name" | "stage" | "updatedAt">;

/** Something that happened, with a link to its details. */
interface HistoryEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly what: string;
  /** `requests/4`, `events/ev_1`, `emails/msg_1`; undefined if there are no details. */
  readonly link?: string;
}

const newestFirst = (entries: readonly HistoryEntry[]): HistoryEntry[] =>
  entries.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, 100);

const contactRow = (contact: ContactRecord): ContactRow => {
  const { id, email, name, stage, updatedAt } = contact;
  return { id, email, name, stage, updatedAt };
};

const membershipsOf = ({ lists, companies }: Workspace, { listIds, leadId }: ContactRecord) => ({
  lists: listIds.map((list) => lists.get(list)?.name ?? list),
  company: companies.get(leadId ?? "")?.companyName ?? leadId,
});

export const listContacts = (workspace: Workspace, filter: URLSearchParams): Rows<ContactRow> => {
  const fits = (contact: ContactRecord) =>
    shows(filter, () => ({ ...contact, ...membershipsOf(workspace, contact) }));
  return selectRows(workspace.contacts.all, fits, contactRow);
};

const eventRow = (event: EventRecord, { contacts }: Workspace) => {
  const { id, name, contactId, recordedAt: at, response, repeats } = event;
  return { id, name, at, outcome: response.outcome, repeats, person: contacts.byId(contactId ?? "")?.email };
};

/** A row of the event list; `person` is the contact's address. */
export type EventRow = ReturnType<typeof eventRow>;

export const listEvents = (workspace: Workspace, filter: URLSearchParams): Rows<EventRow> => {
  const rowOf = (event: EventRecord) => eventRow(event, workspace);
  return selectRows(workspace.events, (event) => shows(filter, () => ({ ...event, ...rowOf(event) })), rowOf);
};

const requestEntry = ({ number, request }: Exchange): HistoryEntry => ({
  at: new Date(request.at).toISOString(),
  what: `${request.operation}: ${request.status ?? "no response"}${request.applied ? "" : ", not applied"}`,
  link: `requests/${number}`,
});

/** The requests of some operations that have one of these texts in the JSON of their path and body, in any case. */
const mentions = ({ exchanges }: Journal, operations: RegExp, ...texts: readonly string[]): HistoryEntry[] =>
  exchanges
    .filter(({ request: { operation = "", path, body } }) => {
      const sent = operations.test(operation) ? JSON.stringify([path, body]).toLowerCase() : "";
      return texts.some((text) => sent.includes(text.toLowerCase()));
    })
    .map(requestEntry);

/** One contact by its id, with the names of its lists and company, and its history. */
export const contactDetail = (workspace: Workspace, journal: Journal, id: string) => {
  const contact = workspace.contacts.byId(id);
  if (contact === undefined) return undefined;
  const sent = workspace.emails.filter(({ contactId }) => contactId === id);
  const events = workspace.events.filter(({ contactId }) => contactId === id);
  return {
    contact,
    ...membershipsOf(workspace, contact),
    history: newestFirst([
      { at: contact.createdAt, what: "Created" },
      ...sent.map(({ id: email, sentAt: at, subject }) => ({
        ...{ at, what: `Email sent: ${subject}`, link: `emails/${email}` },
      })),
      ...events.map(({ id: event, recordedAt: at, name }) => ({
        ...{ at, what: `Event ${name}`, link: `events/${event}` },
      })),
      ...mentions(journal, /^(contacts|lists|companies)\./, `/${id}"`, JSON.stringify(contact.email)),
    ]),
  };
};

/** One event by its id, with its person and its history. */
export const eventDetail = (workspace: Workspace, journal: Journal, id: string) => {
  const event = workspace.events.find((one) => one.id === id);
  if (event === undefined) return undefined;
  const { callerId, contactId = "" } = event;
  const person = workspace.contacts.byId(contactId);
  return {
    event,
    person: person && { id: person.id, email: person.email },
    history: newestFirst([
      { at: event.occurredAt, what: "Happened" },
      { at: event.recordedAt, what: `Recorded: ${event.response.outcome}` },
      ...(callerId === undefined ? [] : mentions(journal, /^events\./, `"id":${JSON.stringify(callerId)}`)),
    ]),
  };
};
