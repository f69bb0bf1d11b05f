import type { Company } from "../../service/companies.ts";
import type { Contact } from "../../service/contacts.ts";
import type { SentEmail } from "../../service/emails.ts";
import type { EventReceipt } from "../../service/events.ts";
import type { List } from "../../service/lists.ts";
import type { Fields } from "../json.ts";

/** Fields of the service's own type, without the nulls that the sandbox does not write. */
type Filled<T> = { [Name in keyof T]: Exclude<T[Name], null> };

/**
 * A contact, as the sandbox stores and returns it. A new contact has the stage `NEW` (not documented), the source
 * `MANUAL` and `verified` false, unless you set them. Times are on the sandbox's clock.
 */
export interface ContactRecord extends Filled<Omit<Contact, "id" | "notes" | "customFields" | "listIds">> {
  /** An opaque string. */
  readonly id: string;
  /** Free text; null if cleared. */
  notes?: string | null;
  /** Values by the workspace's own field names; empty if there are none. */
  customFields: Fields;
  /** The ids of its lists, in the order in which it was added to them. */
  listIds: readonly string[];
}

/** A company. Responses also contain its people, as `contacts`. */
export interface CompanyRecord extends Filled<Omit<Company, "id" | "contacts">> {
  /** An opaque string. */
  readonly id: string;
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly createdAt: string;
  /** When it was last updated; ISO 8601, UTC, by the sandbox's clock. */
  updatedAt: string;
}

/** A named group of contacts. */
export interface ListRecord extends Readonly<List> {
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly createdAt: string;
}

/** The service's response to a recorded event. */
export interface EventResponse extends Readonly<Omit<EventReceipt, "contactId" | "note">> {
  /** The contact of the event; undefined with `NO_CONTACT`. */
  readonly contactId?: string;
  /** The reason why no run started; null if there is nothing to explain. */
  readonly note: string | null;
}

/** A recorded event, with its answer. */
export interface EventRecord extends Pick<EventResponse, "id" | "name" | "contactId"> {
  /** The `id` in the request. */
  readonly callerId?: string;
  /** The properties as sent; empty if there were none. */
  readonly properties: Fields;
  /** When the event happened: the `occurredAt` of the request, or else the time of receipt. ISO 8601, UTC. */
  readonly occurredAt: string;
  /** The time of receipt; ISO 8601, UTC, by the sandbox's clock. */
  readonly recordedAt: string;
  /** How many later requests had the same `callerId`. */
  repeats: number;
  /** The response to the first request with this `callerId`. */
  readonly response: EventResponse;
}

/**
 * A sent email: the service's response, and the content. `cc` is always empty, because the document does not say how to
 * request copies.
 */
export interface EmailRecord extends Readonly<Omit<SentEmail, "request">> {
  /** The body as HTML; undefined if the email was sent as text. */
  readonly html?: string;
  /** The body as text: as sent, or generated from the HTML. */
  readonly text: string;
  /** The id of the requested signature; undefined if none was requested. */
  readonly signatureId?: string;
  /** The id of the mail account that sent it. */
  readonly mailAccount: string;
  /** The id of the scheduled email; undefined if the email was sent at once. */
  readonly scheduledId?: string;
}

/** The content of an email before it is sent. */
export interface EmailDraft extends Pick<EmailRecord, "to" | "subject" | "html" | "signatureId"> {
  /** The body as plain text; undefined if there is an `html`. */
  readonly text?: string;
  /** Whether the email may go to contacts in refused stages, such as `UNSUBSCRIBED`; default false. */
  readonly force: boolean;
}

/** A scheduled email. Only the status `SCHEDULED` is documented; the others are the sandbox's own. */
export interface ScheduledRecord {
  /** An opaque string. */
  readonly id: string;
  /** `SCHEDULED` until the email is sent (`SENT`), refused at that time (`FAILED`, see `error`) or cancelled. */
  status: "SCHEDULED" | "SENT" | "FAILED" | "CANCELLED";
  /** When the email is due; ISO 8601, UTC. It is sent later if the account's limits have no room then. */
  sendAt: string;
  /** The content, with every change so far. */
  draft: EmailDraft;
  /** The id of the mail account that sends it: the account of the key that scheduled it. */
  readonly mailAccount: string;
  /** The reason for the status `FAILED`, as a sentence; undefined otherwise. */
  error?: string;
}
