import type { Company } from "../../service/companies.ts";
import type { Contact } from "../../service/contacts.ts";
import type { SentEmail } from "../../service/emails.ts";
import type { EventReceipt } from "../../service/events.ts";
import type { List } from "../../service/lists.ts";
import type { Fields } from "../json.ts";

/** Fields of the service's own type, without the nulls that the sandbox does not write. */
type Filled<T> = { [Name in keyof T]: Exclude<T[Name], null> };

/**
 * A contact, as the sandbox stores and returns it. Unless given, its stage is `NEW`, which is not documented, its source
 * `MANUAL`, and `verified` false. Times are those of the sandbox's clock.
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

/** The answer to a recorded event: the service's, without a contact where there is none. */
export interface EventResponse extends Readonly<Omit<EventReceipt, "contactId" | "note">> {
  /** The contact it was recorded for; undefined with `NO_CONTACT`. */
  readonly contactId?: string;
  /** Why not every run started; null if there is nothing to explain. */
  readonly note: string | null;
}

/** A recorded event, with its answer. */
export interface EventRecord extends Pick<EventResponse, "id" | "name" | "contactId"> {
  /** The id that the request gave. */
  readonly callerId?: string;
  /** As sent; empty if there were none. */
  readonly properties: Fields;
  /** When it happened: as given, otherwise when it was received. ISO 8601, UTC. */
  readonly occurredAt: string;
  /** When it was received; ISO 8601, UTC, by the sandbox's clock. */
  readonly recordedAt: string;
  /** How many later requests repeated its id. */
  repeats: number;
  /** The answer to the first request with its id. */
  readonly response: EventResponse;
}

/**
 * A sent email: the service's answer, and what was sent. `cc` is empty: the document does not show how to ask for copies.
 */
export interface EmailRecord extends Readonly<Omit<SentEmail, "request">> {
  /** The body as HTML; undefined if the email was sent as text. */
  readonly html?: string;
  /** As sent, or generated from the HTML. */
  readonly text: string;
  /** The id of the requested signature; undefined if none was requested. */
  readonly signatureId?: string;
  /** The id of the mail account that sent it. */
  readonly mailAccount: string;
  /** The id of the scheduled email; undefined if the email was sent at once. */
  readonly scheduledId?: string;
}

/** What an email consists of before it is sent. */
export interface EmailDraft extends Pick<EmailRecord, "to" | "subject" | "html" | "signatureId"> {
  /** The body as plain text; undefined if there is an `html`. */
  readonly text?: string;
  /** Whether it may go to contacts in refused stages, such as `UNSUBSCRIBED`; default false. */
  readonly force: boolean;
}

/** A scheduled email. Only the status `SCHEDULED` is documented; the others are the sandbox's own. */
export interface ScheduledRecord {
  /** An opaque string. */
  readonly id: string;
  /** `SCHEDULED` until it is sent (`SENT`), refused at that time (`FAILED`, see `error`) or cancelled. */
  status: "SCHEDULED" | "SENT" | "FAILED" | "CANCELLED";
  /** When it is sent; ISO 8601, UTC. It waits longer while the account's limits have no room. */
  sendAt: string;
  /** What will be sent, with every change so far. */
  draft: EmailDraft;
  /** The id of the mail account that sends it: the account of the key that scheduled it. */
  readonly mailAccount: string;
  /** Why it failed, as a sentence; undefined otherwise. */
  error?: string;
}
