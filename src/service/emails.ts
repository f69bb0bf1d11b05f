import * as z from "zod/mini";
import type { MomentInput } from "../runtime/moments.ts";
import { isRecord } from "../runtime/values.ts";
import {
  Anything,
  anyPage,
  changed,
  deferred,
  EmailAddress,
  each,
  type Fields,
  inputOf,
  Nothing,
  objectOf,
  openText,
  page,
  paging,
  type RequestInput,
  readRecord,
  type Schema,
  Text,
  withRequestedPaging,
  zodOf,
} from "./common.ts";
import { operation } from "./define.ts";
import { Moment } from "./timestamps.ts";

/**
 * The body of an email: exactly one of `html` and `text`.
 *
 * Source: service document, Emails, body fields.
 */
export type EmailContent =
  | {
      /** The body as HTML; the service derives a plain-text version. */
      readonly html: string;
      /** Not allowed together with `html`. */
      readonly text?: undefined;
    }
  | {
      /** The body as plain text. */
      readonly text: string;
      /** Not allowed together with `text`. */
      readonly html?: undefined;
    };

/**
 * The fields of every email, besides its body. Declare other fields by merging: `declare module "touchpoint-sdk" {
 * interface EmailFields { cc?: string[] } }`.
 *
 * Source: service document, Emails, body fields.
 */
export interface EmailFields {
  /** The recipient's address; one person. */
  to: string;
  /** The subject line; not blank. */
  subject: string;
  /** The id of a signature of the workspace, or `default`. */
  signatureId?: string | undefined;
  /** Allows sending to contacts who replied, bounced, unsubscribed, converted or are dead. */
  force?: boolean | undefined;
  /** Not allowed here: pass the send-once key in the second argument, `{ once }`. */
  once?: "Not here: pass { once } as the second argument." | undefined;
}

/**
 * An email to one person, sent now: `to`, `subject`, and exactly one of `html` and `text`.
 *
 * Source: service document, Emails, body fields.
 */
export type EmailInput = EmailFields & {
  /** Not allowed here: use `emails.schedule` to send later. */
  sendAt?: "Not here: emails.schedule sends later." | undefined;
} & EmailContent;

/**
 * An email to one person that the service sends within about a minute after `sendAt`.
 *
 * Source: service document, Emails, body fields and send rule 6.
 */
export type ScheduledEmailInput = EmailFields & {
  /** When to send it: a `Date`, `Temporal.Instant`, `Temporal.ZonedDateTime`, or ISO 8601 string with a time zone. */
  sendAt: MomentInput;
} & EmailContent;

const content = () => ({
  html: z.optional(Text),
  text: z.optional(Text),
  signatureId: z.optional(Text),
  force: z.optional(z.boolean("must be a boolean")),
});

const common = () => ({
  to: EmailAddress,
  subject: Text,
  ...content(),
  // A key in the wrong argument would be ignored, and the email could be sent twice.
  once: z.optional(z.undefined("belongs in the second argument: emails.send(email, { once })")),
});

interface Bodies {
  readonly html?: string | undefined;
  readonly text?: string | undefined;
}

const hasOneBody = () =>
  z.refine<Bodies>(
    (email) => (email.html === undefined) !== (email.text === undefined),
    "must have exactly one of html and text",
  );

type Loose<Email> = Omit<Email, keyof Bodies> & Bodies;

/** Checks an email that is sent now. */
// `hasOneBody` ensures what the casts of this schema and the next one claim: exactly one of `html` and `text`.
export const EmailInput: Schema<EmailInput> = inputOf<Loose<EmailInput>>(
  () => ({
    ...common(),
    sendAt: z.optional(z.undefined("is not allowed here: to send later, use emails.schedule")),
  }),
  hasOneBody,
) as Schema as Schema<EmailInput>;

/** Checks an email that is sent later. */
export const ScheduledEmailInput: Schema<ScheduledEmailInput> = inputOf<Loose<ScheduledEmailInput>>(
  () => ({ ...common(), sendAt: Moment }),
  hasOneBody,
) as Schema as Schema<ScheduledEmailInput>;

/** The request that a dry run did not send, without its headers. The path starts at the root of the origin. */
export type DryRunRequest = { method: string; path: string; body: Record<string, unknown> };

/**
 * The response to an immediate send. Fields that the document does not name are kept.
 *
 * Source: service document, Sent email.
 */
export interface SentEmail {
  /** The mail account's message id; empty if you settled the `once` key by hand without a receipt. */
  id: string;
  /** Recipient address. */
  to: string;
  /** The recipients of a copy; the document does not describe the items. */
  cc: unknown[];
  /** Display name and address of the sending account. */
  from: string;
  /** The subject line. */
  subject: string;
  /** When the email was sent: ISO 8601, UTC. */
  sentAt: string;
  /** Whether open or click tracking was added. */
  tracked: boolean;
  /** The contact id of the recipient. */
  contactId: string;
  /** `true` if this send created the recipient as a contact. */
  contactCreated: boolean;
  /** Only in a dry run, whose `id` starts with `dry-run:`. */
  request?: DryRunRequest | undefined;
}
export const SentEmail: Schema<SentEmail> = objectOf<Omit<SentEmail, "request">>(() => ({
  ...each(z.string(), "id", "to", "from", "subject", "sentAt", "contactId"),
  ...each(z.boolean(), "tracked", "contactCreated"),
  cc: z.array(z.unknown()),
}));

/**
 * The status of a scheduled email: `SCHEDULED`, or a value that the document does not name.
 *
 * Source: service document, States and transitions.
 */
export type ScheduledStatus = "SCHEDULED" | (string & {});
export const ScheduledStatus: Schema<ScheduledStatus> = deferred(() => openText<ScheduledStatus>());

/**
 * An email that will be sent at `sendAt`. The document names only these fields; other fields are kept.
 *
 * Source: service document, Scheduled email.
 */
export interface ScheduledEmail {
  /** An opaque string; empty if you settled the `once` key by hand without a receipt. */
  id: string;
  /** `SCHEDULED`, or a value that the document does not name. */
  status: ScheduledStatus;
  /** When it is due: ISO 8601, UTC. The service sends it within about a minute after. */
  sendAt: string;
  /** `true` in the response to `emails.schedule`. */
  scheduled?: boolean | null | undefined;
  /** Only in a dry run, whose `id` starts with `dry-run:`. */
  request?: DryRunRequest | undefined;
}
/** Checks a scheduled email as the service returns it. */
export const ScheduledEmail: Schema<ScheduledEmail> = objectOf<Omit<ScheduledEmail, "request">>(() => ({
  id: z.string(),
  status: ScheduledStatus,
  sendAt: z.string(),
  scheduled: z.nullish(z.boolean()),
}));

/**
 * The response to a change of a scheduled email: its `id`, and other fields that the service returns. The document does
 * not show this response.
 */
export interface ScheduledEmailUpdated {
  /** An opaque string. */
  id: string;
  /** `SCHEDULED`, or a value that the document does not name. */
  status?: ScheduledStatus | null | undefined;
  /** When it is due: ISO 8601, UTC. The service sends it within about a minute after. */
  sendAt?: string | null | undefined;
}
export const ScheduledEmailUpdated: Schema<ScheduledEmailUpdated> = objectOf<ScheduledEmailUpdated>(() => ({
  id: z.string(),
  status: z.nullish(zodOf(ScheduledStatus)),
  sendAt: z.nullish(z.string()),
}));

export const ScheduledEmailPage = deferred(() => page(ScheduledEmail));

/** Which scheduled emails to list. Source: service document, Limits, paging. */
export interface ScheduledEmailQuery {
  /** How many emails to skip at the start, from 0. */
  skip?: number | undefined;
  /** Emails per page, 1–200. The service's default is 50; an iteration uses 200. */
  limit?: number | undefined;
}
export const ScheduledEmailQuery: Schema<ScheduledEmailQuery> = inputOf<ScheduledEmailQuery>(paging);

/**
 * The fields of a scheduled email to change. The document does not list them; these are the fields of
 * `ScheduledEmailInput`.
 *
 * Source: service document, Emails, "can be changed".
 */
export interface ScheduledEmailPatch {
  /** The recipient's address; one person. */
  to?: string | undefined;
  /** The subject line; not blank. */
  subject?: string | undefined;
  /** The body as HTML; the service derives a plain-text version. At most one of `html` and `text`. */
  html?: string | undefined;
  /** The body as plain text. At most one of `html` and `text`. */
  text?: string | undefined;
  /** The id of a signature of the workspace, or `default`. */
  signatureId?: string | undefined;
  /** Allows sending to contacts who replied, bounced, unsubscribed, converted or are dead. */
  force?: boolean | undefined;
  /** When to send it: a `Date`, `Temporal.Instant`, `Temporal.ZonedDateTime`, or ISO 8601 string with a time zone. */
  sendAt?: MomentInput | undefined;
}
/** Checks the changes to a scheduled email. */
export const ScheduledEmailPatch: Schema<ScheduledEmailPatch> = inputOf<ScheduledEmailPatch>(
  () => ({
    to: z.optional(EmailAddress),
    subject: z.optional(Text),
    ...content(),
    sendAt: z.optional(zodOf(Moment)),
  }),
  () =>
    z.refine(
      ({ html, text }) => html === undefined || text === undefined,
      "must have at most one of html and text",
    ),
);

/** The objects with an id: `body`, and objects up to three levels below it. An outer object precedes its inner ones. */
const recordsWithId = (body: Fields, depth = 3): readonly Fields[] => [
  ...(body.id === undefined ? [] : [body]),
  ...(depth === 0 ? [] : Object.values(body).filter(isRecord)).flatMap((inner) =>
    recordsWithId(inner, depth - 1),
  ),
];

/** Reads a scheduled email, directly or nested under any key. The result has the email's fields on the top level. */
const readScheduledEmail = (body: unknown): unknown => {
  if (!isRecord(body) || body.id !== undefined) return readRecord(body);
  // The response may also contain another record, for example a contact, which has neither `sendAt` nor `status`.
  const records = recordsWithId(body);
  const inner =
    records.find(({ sendAt, status }) => sendAt !== undefined || status !== undefined) ?? records[0];
  return inner === undefined ? body : readRecord({ ...body, ...inner });
};

/** Reads a page of scheduled emails, each with `readScheduledEmail`. */
const readScheduledPage = (body: unknown, request: RequestInput): unknown => {
  const page = anyPage(readScheduledEmail, "emails", "scheduled", "scheduledEmails")(body);
  return isRecord(page) ? withRequestedPaging(page, request) : page;
};

/** Source: service document, Endpoints, Emails. The document gives no methods and shapes for scheduled emails. */
export const emails = {
  send: operation("emails.send", "POST /api/v1/emails", {
    scope: ["email:write"],
    isEmail: true,
    replay: "never",
    budgets: ["requests", "emails"],
    // A mail account at its daily limit refuses sends, but keeps scheduled emails until it may send again.
    stopsAlone: true,
    input: EmailInput,
    output: SentEmail,
    read: readRecord,
  }),
  schedule: operation("emails.schedule", "POST /api/v1/emails", {
    scope: ["email:write"],
    isEmail: true,
    replay: "never",
    budgets: ["requests", "emails"],
    input: ScheduledEmailInput,
    output: ScheduledEmail,
    read: readScheduledEmail,
  }),
  scheduledList: operation("emails.scheduled.list", "GET /api/v1/emails/scheduled", {
    isEmail: true,
    replay: "safe",
    input: ScheduledEmailQuery,
    output: ScheduledEmailPage,
    read: readScheduledPage,
  }),
  scheduledUpdate: operation("emails.scheduled.update", "PATCH /api/v1/emails/scheduled/:id", {
    scope: ["email:write"],
    isEmail: true,
    replay: "idempotent",
    input: ScheduledEmailPatch,
    output: ScheduledEmailUpdated,
    read: changed(readScheduledEmail),
    mayBeEmpty: true,
  }),
  scheduledCancel: operation("emails.scheduled.cancel", "DELETE /api/v1/emails/scheduled/:id", {
    scope: ["email:write"],
    isEmail: true,
    replay: "idempotent",
    input: Nothing,
    output: Anything,
    notFoundMeansDone: true,
    mayBeEmpty: true,
  }),
};
