import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { EmailRecord, ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Found, found, has } from "./found.ts";
import { messageHeaders } from "./message.ts";

/** A row of the email list: a sent or scheduled email. */
export interface EmailRow {
  readonly id: string;
  readonly status: "SENT" | ScheduledRecord["status"];
  /** When it was or will be sent; ISO 8601. */
  readonly at: string;
  readonly to: string;
  readonly subject: string;
  /** The beginning of its text. */
  readonly preview: string;
}

/** One email with all its details. */
export interface EmailDetail extends EmailRow {
  readonly workspace: string;
  readonly from: string | undefined;
  readonly hasHtml: boolean;
  readonly text: string | undefined;
  /** Undefined until it is sent. */
  readonly headers: readonly (readonly [name: string, value: string])[] | undefined;
  readonly contactId: string | undefined;
  /** Further facts, each with its name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const preview = (text: string | undefined): string => (text ?? "").replace(/\s+/g, " ").trim().slice(0, 120);

const sentRow = ({ id, sentAt, to, subject, text }: EmailRecord): EmailRow => ({
  id,
  status: "SENT",
  at: sentAt,
  to,
  subject,
  preview: preview(text),
});

const scheduledRow = ({ id, status, sendAt, draft: { to, subject, text } }: ScheduledRecord): EmailRow => ({
  id,
  status,
  at: sendAt,
  to,
  subject,
  preview: preview(text),
});

/** Lists waiting emails, soonest first, then sent, failed and cancelled ones, newest first. */
export const listEmails = ({ emails, scheduled }: Workspace, filter: URLSearchParams): Found<EmailRow> => {
  const search = (filter.get("search") ?? "").toLowerCase();
  const only = filter.get("to");
  const isWanted = (to: string, ...texts: readonly (string | undefined)[]): boolean =>
    (only === null || foldAscii(only) === foldAscii(to)) && has(search, to, ...texts);
  const kept = [...scheduled.values()].filter(({ draft: { to, subject, html, text } }) =>
    isWanted(to, subject, html, text),
  );
  const waiting = kept.filter(({ status }) => status === "SCHEDULED").map(scheduledRow);
  const ended = kept.filter(({ status }) => status === "FAILED" || status === "CANCELLED").map(scheduledRow);
  const sent = found(emails, ({ to, subject, html, text }) => isWanted(to, subject, html, text), sentRow);
  const byTime = (a: EmailRow, b: EmailRow) => Date.parse(b.at) - Date.parse(a.at);
  return {
    items: [...waiting.sort((a, b) => byTime(b, a)), ...[...sent.items, ...ended].sort(byTime)],
    more: sent.more,
  };
};

const yes = (is: boolean): string => (is ? "yes" : "no");

type Told = Omit<EmailDetail, "workspace">;

const sentDetail = (email: EmailRecord): Told => ({
  ...sentRow(email),
  from: email.from,
  hasHtml: email.html !== undefined,
  text: email.text,
  headers: messageHeaders(email),
  contactId: email.contactId,
  facts: [
    ["Mail account", email.mailAccount],
    ["Opens and clicks tracked", yes(email.tracked)],
    ["Recipient became a contact", yes(email.contactCreated)],
    ...(email.signatureId === undefined ? [] : [["Signature", email.signatureId] as const]),
    ...(email.scheduledId === undefined ? [] : [["Scheduled as", email.scheduledId] as const]),
  ],
});

const scheduledDetail = (record: ScheduledRecord, { contacts }: Workspace): Told => ({
  ...scheduledRow(record),
  from: undefined,
  hasHtml: record.draft.html !== undefined,
  text: record.draft.text,
  headers: undefined,
  contactId: contacts.byEmail(record.draft.to)?.id,
  facts: [
    ["Mail account", record.mailAccount],
    ["Goes to refused stages too", yes(record.draft.force)],
    ...(record.error === undefined ? [] : [["Why it failed", record.error] as const]),
  ],
});

/** One email, by the id of the message or of the scheduled email. */
export const emailDetail = (workspace: Workspace, id: string): EmailDetail | undefined => {
  const sent = workspace.emails.find((email) => email.id === id);
  const record = workspace.scheduled.get(id);
  const told = sent === undefined ? record && scheduledDetail(record, workspace) : sentDetail(sent);
  return told && { ...told, workspace: workspace.name };
};

/** The HTML of a sent or scheduled email. */
export const emailHtml = ({ emails, scheduled }: Workspace, id: string): string | undefined =>
  emails.find((email) => email.id === id)?.html ?? scheduled.get(id)?.draft.html;
