import type { Fields } from "../json.ts";

/** A contact as the sandbox keeps and sends it. */
export interface ContactRecord {
  /** An opaque string. */
  readonly id: string;
  /** As it was given; unique in the workspace, in any case of letters. */
  email: string;
  /** Full name. */
  name?: string;
  /** Job title. */
  title?: string;
  /** As it was given. */
  phone?: string;
  /** Profile URL; not checked. */
  linkedIn?: string;
  /** Free text; null where it was cleared. */
  notes?: string | null;
  /** `NEW` (the sandbox's own) unless another was given. */
  stage: string;
  /** `MANUAL` unless another was given. */
  source: string;
  /** False unless given. */
  verified: boolean;
  /** Undefined unless given; any number. */
  emailConfidence?: number;
  /** Values by the workspace's own field names; empty where there are none. */
  customFields: Fields;
  /** The id of its company; undefined where it has none. */
  leadId?: string;
  /** The ids of its lists, in the order in which it came into them. */
  listIds: readonly string[];
  /** The caller's own user id, as an event supplied it; undefined before. */
  externalId?: string;
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly createdAt: string;
  /** When it was last updated; ISO 8601, UTC, by the sandbox's clock. */
  updatedAt: string;
}

/** A company. On the wire it also carries its people under `contacts`. */
export interface CompanyRecord {
  /** An opaque string. */
  readonly id: string;
  /** The company's name; undefined unless given. */
  companyName?: string;
  /** In lower case; unique in the workspace. */
  domain?: string;
  /** The line of business; undefined unless given. */
  industry?: string;
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly createdAt: string;
  /** When it was last updated; ISO 8601, UTC, by the sandbox's clock. */
  updatedAt: string;
}

/** A named group of contacts. */
export interface ListRecord {
  /** An opaque string. */
  readonly id: string;
  /** Unique in the workspace. */
  readonly name: string;
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly createdAt: string;
}

/** The answer to a recorded event. */
export interface EventAnswer {
  /** The event's id: the caller's, or one that the sandbox gave. */
  readonly id: string;
  /** The event's name. */
  readonly name: string;
  /** The person it was recorded for; undefined with `NO_CONTACT`. */
  readonly contactId?: string;
  /** `true` in the answer to a repeated id, which is the first event's; else undefined. */
  readonly duplicate?: true;
  /** `NO_CONTACT`: nobody matched and none was created; `TOO_OLD`: it starts nothing; else `PROCESSED`. */
  readonly outcome: "PROCESSED" | "NO_CONTACT" | "TOO_OLD";
  /** Whether the event made a new contact. */
  readonly createdContact: boolean;
  /** Automation runs started. */
  readonly runsStarted: number;
  /** Runs stopped, by an exit rule or by reaching their goal. */
  readonly runsExited: number;
  /** Runs that were waiting for this event and continued. */
  readonly runsResumed: number;
  /** Runs that reached their goal; `runsExited` counts them too. */
  readonly runsConverted: number;
  /** Why nothing, or not everything, started; null where there is nothing to say. */
  readonly note: string | null;
}

/** An event that was recorded, with the answer it got. */
export interface EventRecord {
  /** The caller's id, or one that the sandbox gave. */
  readonly id: string;
  /** The event's name. */
  readonly name: string;
  /** The person it was recorded for; undefined where nobody matched. */
  readonly contactId?: string;
  /** As they were sent; empty where there were none. */
  readonly properties: Fields;
  /** When it happened, as the caller says; without that when it came. ISO 8601, UTC. */
  readonly occurredAt: string;
  /** When it came; ISO 8601, UTC, by the sandbox's clock. */
  readonly recordedAt: string;
  /** How many later requests repeated its id. */
  repeats: number;
  /** What the first request with its id was answered. */
  readonly answer: EventAnswer;
}

/** An email that left. The first nine fields are the service's answer. */
export interface EmailRecord {
  /** The mail account's message id. */
  readonly id: string;
  /** Recipient address, as it was given. */
  readonly to: string;
  /** Always empty: the document does not show how a request asks for copies. */
  readonly cc: readonly string[];
  /** Display name and address of the mail account. */
  readonly from: string;
  /** The subject line. */
  readonly subject: string;
  /** ISO 8601, UTC, by the sandbox's clock. */
  readonly sentAt: string;
  /** Whether the workspace had an active tracking domain. */
  readonly tracked: boolean;
  /** The recipient as a contact. */
  readonly contactId: string;
  /** Whether the recipient became a contact by this send. */
  readonly contactCreated: boolean;
  /** The body as HTML; undefined where the email was sent as text. */
  readonly html?: string;
  /** As sent, or generated from the HTML. */
  readonly text: string;
  /** The signature asked for; undefined where none was. */
  readonly signatureId?: string;
  /** The id of the mail account it left from. */
  readonly mailAccount: string;
  /** The id of the scheduled email it went out for; undefined where it was sent at once. */
  readonly scheduledId?: string;
}

/** What an email consists of before it is sent. */
export interface EmailDraft {
  /** Recipient address. */
  readonly to: string;
  /** The subject line. */
  readonly subject: string;
  /** The body as HTML; undefined where `text` is there. */
  readonly html?: string;
  /** The body as plain text; undefined where `html` is there. */
  readonly text?: string;
  /** The signature asked for; undefined where none was. */
  readonly signatureId?: string;
  /** Whether it may go to the refused stages, such as `UNSUBSCRIBED`; false unless given. */
  readonly force: boolean;
}

/** An email kept for later. Only `SCHEDULED` is documented; the other statuses are the sandbox's own. */
export interface ScheduledRecord {
  /** An opaque string. */
  readonly id: string;
  /** `SCHEDULED` until it goes out (`SENT`), is refused then (`FAILED`, see `error`) or is cancelled. */
  status: "SCHEDULED" | "SENT" | "FAILED" | "CANCELLED";
  /** When it goes out; ISO 8601, UTC. It waits on where the account's limits have no room. */
  sendAt: string;
  /** What will be sent, with every change so far. */
  draft: EmailDraft;
  /** The id of the mail account it leaves from: that of the key which scheduled it. */
  readonly mailAccount: string;
  /** Why it failed, in a sentence; undefined otherwise. */
  error?: string;
}
