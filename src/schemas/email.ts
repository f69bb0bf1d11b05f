import * as z from "zod/mini";
import { deferred, EmailAddress, inputObject, maybe, openUnion, page, paging, Text } from "./common.ts";
import { Moment } from "./moment.ts";

const common = () => ({
  /** Recipient address. */
  to: EmailAddress,
  /** The subject line. */
  subject: Text,
  /** A signature of the workspace, or `default`. */
  signatureId: z.optional(Text),
  /** Allows sending to contacts who replied, bounced, unsubscribed, converted or are dead. */
  force: z.optional(z.boolean("must be a boolean")),
});

const content = () => ({ html: z.optional(Text), text: z.optional(Text) });

const hasOneBody = z.refine<{ readonly html?: string | undefined; readonly text?: string | undefined }>(
  (email) => (email.html === undefined) !== (email.text === undefined),
  "must carry exactly one of html and text",
);

/** Exactly one of `html` and `text`. */
export type EmailContent =
  | { readonly html: string; readonly text?: undefined }
  | { readonly text: string; readonly html?: undefined };

// A key in the wrong argument would be ignored, and the email could go out twice.
const misplaced = () =>
  z.optional(z.undefined("belongs into the second argument: emails.send(email, { once })"));

const SendFields = deferred(() =>
  inputObject({
    ...common(),
    ...content(),
    /** When it goes out: a `Date`, or an ISO 8601 string with a time zone. */
    sendAt: z.optional(z.undefined("is for emails.schedule")),
    once: misplaced(),
  }).check(hasOneBody),
);
const ScheduleFields = deferred(() =>
  inputObject({ ...common(), ...content(), sendAt: Moment, once: misplaced() }).check(hasOneBody),
);

/** An email to one person, sent now. */
export type EmailInput = Omit<z.infer<typeof SendFields>, "html" | "text"> & EmailContent;
// The exclusion of html and text is checked at run time and told to the type here.
export const EmailInput = SendFields as unknown as z.ZodMiniType<EmailInput>;

/** An email to one person, sent at `sendAt`: a Date, or an ISO 8601 string with a time zone. */
export type ScheduledEmailInput = Omit<z.infer<typeof ScheduleFields>, "html" | "text"> & EmailContent;
// As above.
export const ScheduledEmailInput = ScheduleFields as unknown as z.ZodMiniType<ScheduledEmailInput>;

/** The answer to an immediate send. */
export const SentEmail = deferred(() =>
  z.looseObject({
    /** The mail account's message id. */
    id: z.string(),
    to: maybe(z.string()),
    cc: maybe(z.array(z.unknown())),
    /** Display name and address of the sending account. */
    from: maybe(z.string()),
    /** The subject line. */
    subject: maybe(z.string()),
    /** ISO 8601, UTC. */
    sentAt: maybe(z.string()),
    /** Whether open or click tracking was added. */
    tracked: maybe(z.boolean()),
    /** The recipient as a contact. */
    contactId: maybe(z.string()),
    /** `true` when the recipient was created as a contact by this send. */
    contactCreated: maybe(z.boolean()),
  }),
);
export type SentEmail = z.infer<typeof SentEmail>;

/** Where a scheduled email stands. */
export const ScheduledStatus = deferred(() => openUnion("SCHEDULED"));
export type ScheduledStatus = z.infer<typeof ScheduledStatus>;

/** An email kept to go out at `sendAt`. */
export const ScheduledEmail = deferred(() =>
  z.looseObject({
    id: z.string(),
    status: maybe(ScheduledStatus),
    /** ISO 8601, UTC; it goes out within about a minute after. */
    sendAt: maybe(z.string()),
  }),
);
export type ScheduledEmail = z.infer<typeof ScheduledEmail>;

export const ScheduledEmailPage = deferred(() => page(ScheduledEmail));

/** Which scheduled emails to list: `limit` is 1–200 a page, `skip` counts from 0. */
export const ScheduledEmailQuery = deferred(() => inputObject(paging()));
export type ScheduledEmailQuery = z.infer<typeof ScheduledEmailQuery>;

/** The fields of a scheduled email to change. The document does not list them; these are the email's own. */
export const ScheduledEmailPatch = deferred(() =>
  inputObject({
    to: z.optional(EmailAddress),
    /** The subject line. */
    subject: z.optional(Text),
    /** The body as HTML; the service makes a plain-text version of it. Exactly one of `html` and `text`. */
    html: z.optional(Text),
    /** The body as plain text. Exactly one of `html` and `text`. */
    text: z.optional(Text),
    signatureId: z.optional(Text),
    force: z.optional(z.boolean("must be a boolean")),
    /** When it goes out: a `Date`, or an ISO 8601 string with a time zone. */
    sendAt: z.optional(Moment),
  }).check(
    z.refine(
      ({ html, text }) => html === undefined || text === undefined,
      "must carry at most one of html and text",
    ),
  ),
);
export type ScheduledEmailPatch = z.infer<typeof ScheduledEmailPatch>;
