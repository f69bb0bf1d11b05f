import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { EmailRecord, ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Found, found, has, searchOf } from "./found.ts";
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
  /** Whether it was accepted, and its sender does not know. */
  readonly isLost: boolean;
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
  /** The addresses that it links to. */
  readonly links: readonly string[];
  /** Further facts, each with its name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** The ids of records whose makers do not know of them. */
type Lost = ReadonlySet<string>;

const preview = (text: string | undefined): string => (text ?? "").replace(/\s+/g, " ").trim().slice(0, 120);

const sentRow = ({ id, sentAt, to, subject, text, scheduledId = id }: EmailRecord, lost: Lost): EmailRow => ({
  ...{ id, status: "SENT", at: sentAt, to, subject },
  preview: preview(text),
  isLost: lost.has(scheduledId),
});

const scheduledRow = ({ id, status, sendAt, draft }: ScheduledRecord, lost: Lost): EmailRow => ({
  ...{ id, status, at: sendAt, to: draft.to, subject: draft.subject },
  preview: preview(draft.text),
  isLost: lost.has(id),
});

/** Lists waiting emails, soonest first, then sent, failed and cancelled ones, newest first. */
export const listEmails = (workspace: Workspace, lost: Lost, filter: URLSearchParams): Found<EmailRow> => {
  const { emails, scheduled } = workspace;
  const search = searchOf(filter);
  const only = filter.get("to");
  const isTo = (to: string): boolean => only === null || foldAscii(only) === foldAscii(to);
  const later = (record: ScheduledRecord) => scheduledRow(record, lost);
  const sent = (email: EmailRecord) => sentRow(email, lost);
  const kept = [...scheduled.values()].filter(
    (one) =>
      isTo(one.draft.to) &&
      has(search, later, one, () => [one.draft.html, one.draft.text, one.mailAccount, one.error]),
  );
  const gone = found(
    emails,
    (one) => isTo(one.to) && has(search, sent, one, () => [one.html, one.text, sentDetail(one, lost)]),
    sent,
  );
  const byTime = (a: EmailRow, b: EmailRow) => Date.parse(b.at) - Date.parse(a.at);
  const waiting = kept.filter(({ status }) => status === "SCHEDULED").map(later);
  const ended = kept.filter(({ status }) => status === "FAILED" || status === "CANCELLED").map(later);
  return {
    items: [...waiting.sort((a, b) => byTime(b, a)), ...[...gone.items, ...ended].sort(byTime)],
    more: gone.more,
  };
};

const linksIn = (html: string | undefined, text: string | undefined): readonly string[] => {
  const all =
    html === undefined
      ? [...(text ?? "").matchAll(/https?:\/\/[^\s<>"')]+/g)].map(([url]) => url)
      : [...html.matchAll(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(
          ([, a, b]) => a ?? b ?? "",
        );
  const links = all.map((link) => link.replaceAll("&amp;", "&").trim());
  return [...new Set(links)].filter((link) => /^(https?|mailto):/i.test(link));
};

const yes = (is: boolean): string => (is ? "yes" : "no");

type Told = Omit<EmailDetail, "workspace">;

const sentDetail = (email: EmailRecord, lost: Lost): Told => ({
  ...sentRow(email, lost),
  links: linksIn(email.html, email.text),
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

const scheduledDetail = (record: ScheduledRecord, { contacts }: Workspace, lost: Lost): Told => ({
  ...scheduledRow(record, lost),
  links: linksIn(record.draft.html, record.draft.text),
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
export const emailDetail = (workspace: Workspace, lost: Lost, id: string): EmailDetail | undefined => {
  const sent = workspace.emails.find((email) => email.id === id);
  const record = workspace.scheduled.get(id);
  const told =
    sent === undefined ? record && scheduledDetail(record, workspace, lost) : sentDetail(sent, lost);
  return told && { ...told, workspace: workspace.name };
};

/** The HTML of a sent or scheduled email. */
export const emailHtml = ({ emails, scheduled }: Workspace, id: string): string | undefined =>
  emails.find((email) => email.id === id)?.html ?? scheduled.get(id)?.draft.html;
