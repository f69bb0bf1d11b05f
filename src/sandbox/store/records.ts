import type { Fields } from "../json.ts";

/** A contact as the sandbox keeps and sends it. */
export interface ContactRecord {
  readonly id: string;
  email: string;
  name?: string;
  title?: string;
  phone?: string;
  linkedIn?: string;
  notes?: string | null;
  stage: string;
  source: string;
  verified: boolean;
  emailConfidence?: number;
  customFields: Fields;
  leadId?: string;
  listIds: readonly string[];
  externalId?: string;
  readonly createdAt: string;
  updatedAt: string;
}

/** A company. On the wire it also carries its people under `contacts`. */
export interface CompanyRecord {
  readonly id: string;
  companyName?: string;
  domain?: string;
  industry?: string;
  readonly createdAt: string;
  updatedAt: string;
}

/** A named group of contacts. */
export interface ListRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** The answer to a recorded event. */
export interface EventAnswer {
  readonly id: string;
  readonly name: string;
  readonly contactId?: string;
  readonly duplicate?: true;
  readonly outcome: "PROCESSED" | "NO_CONTACT" | "TOO_OLD";
  readonly createdContact: boolean;
  readonly runsStarted: number;
  readonly runsExited: number;
  readonly runsResumed: number;
  readonly runsConverted: number;
  readonly note: string | null;
}

/** An event that was recorded, with the answer it got. */
export interface EventRecord {
  readonly id: string;
  readonly name: string;
  readonly contactId?: string;
  readonly properties: Fields;
  readonly occurredAt: string;
  readonly recordedAt: string;
  /** How many later requests repeated its id. */
  repeats: number;
  readonly answer: EventAnswer;
}

/** An email that left. The first nine fields are the service's answer. */
export interface EmailRecord {
  readonly id: string;
  readonly to: string;
  readonly cc: readonly string[];
  readonly from: string;
  readonly subject: string;
  readonly sentAt: string;
  readonly tracked: boolean;
  readonly contactId: string;
  readonly contactCreated: boolean;
  readonly html?: string;
  /** As sent, or generated from the HTML. */
  readonly text: string;
  readonly signatureId?: string;
  readonly mailAccount: string;
  /** The scheduled email it went out for. */
  readonly scheduledId?: string;
}

/** What an email consists of before it is sent. */
export interface EmailDraft {
  readonly to: string;
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly signatureId?: string;
  readonly force: boolean;
}

/** An email kept for later. Only `SCHEDULED` is documented; the other statuses are the sandbox's own. */
export interface ScheduledRecord {
  readonly id: string;
  status: "SCHEDULED" | "SENT" | "FAILED" | "CANCELLED";
  sendAt: string;
  draft: EmailDraft;
  readonly mailAccount: string;
  /** Why it failed. */
  error?: string;
}
