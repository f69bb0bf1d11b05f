import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { EmailRecord, ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Found, found, shows } from "./found.ts";
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

const isSent = (record: EmailRecord | ScheduledRecord): record is EmailRecord => "sentAt" in record;

const rowOf = (record: EmailRecord | ScheduledRecord, lost: Lost): EmailRow => {
  const { to, subject, text = "" } = isSent(record) ? record : record.draft;
  const [status, at] = isSent(record) ? (["SENT", record.sentAt] as const) : [record.status, record.sendAt];
  const preview = text.replace(/\s+/g, " ").trim().slice(0, 120);
  const isLost = lost.has((isSent(record) ? record.scheduledId : undefined) ?? record.id);
  return { id: record.id, status, at, to, subject, preview, isLost };
};

const linksIn = (html: string | undefined, text = ""): readonly string[] => {
  const all =
    html === undefined
      ? [...text.matchAll(/https?:\/\/[^\s<>"')]+/g)].map(([url]) => url)
      : [...html.matchAll(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(
          ([, a, b]) => a ?? b ?? "",
        );
  const links = all.map((link) => link.replaceAll("&amp;", "&").trim());
  return [...new Set(links)].filter((link) => /^(https?|mailto):/i.test(link));
};

const yes = (is: boolean): string => (is ? "yes" : "no");
const fact = (name: string, value: string | undefined) =>
  value === undefined ? [] : [[name, value] as const];

const detailOf = (
  record: EmailRecord | ScheduledRecord,
  { name, contacts }: Workspace,
  lost: Lost,
): EmailDetail => {
  const { to, html, text, signatureId } = isSent(record) ? record : record.draft;
  const common = {
    ...rowOf(record, lost),
    workspace: name,
    links: linksIn(html, text),
    hasHtml: html !== undefined,
    text,
    contactId: contacts.byEmail(to)?.id,
  };
  const account = fact("Mail account", record.mailAccount);
  if (!isSent(record)) {
    const force = fact("Goes to refused stages too", yes(record.draft.force));
    const facts = [...account, ...force, ...fact("Why it failed", record.error)];
    return { ...common, from: undefined, headers: undefined, facts };
  }
  return {
    ...common,
    contactId: record.contactId,
    from: record.from,
    headers: messageHeaders(record),
    facts: [
      ...account,
      ...fact("Opens and clicks tracked", yes(record.tracked)),
      ...fact("Recipient became a contact", yes(record.contactCreated)),
      ...fact("Signature", signatureId),
      ...fact("Scheduled as", record.scheduledId),
    ],
  };
};

/** Lists waiting emails, soonest first, then sent, failed and cancelled ones, newest first. */
export const listEmails = (workspace: Workspace, lost: Lost, filter: URLSearchParams): Found<EmailRow> => {
  const only = filter.get("to");
  const fits = (record: EmailRecord | ScheduledRecord): boolean => {
    const { to, html } = isSent(record) ? record : record.draft;
    const isTo = only === null || foldAscii(only) === foldAscii(to);
    return isTo && shows(filter, () => ({ ...detailOf(record, workspace, lost), html }));
  };
  const toRow = (record: EmailRecord | ScheduledRecord) => rowOf(record, lost);
  const byTime = (a: EmailRow, b: EmailRow) => Date.parse(b.at) - Date.parse(a.at);
  const kept = [...workspace.scheduled.values()]
    .filter((one) => one.status !== "SENT" && fits(one))
    .map(toRow);
  const waiting = kept.filter(({ status }) => status === "SCHEDULED");
  const ended = kept.filter(({ status }) => status !== "SCHEDULED");
  const gone = found(workspace.emails, fits, toRow);
  return {
    items: [...waiting.sort((a, b) => byTime(b, a)), ...[...gone.items, ...ended].sort(byTime)],
    more: gone.more,
  };
};

const find = ({ emails, scheduled }: Workspace, id: string): EmailRecord | ScheduledRecord | undefined =>
  emails.find((email) => email.id === id) ?? scheduled.get(id);

/** One email, by the id of the message or of the scheduled email. */
export const emailDetail = (workspace: Workspace, lost: Lost, id: string): EmailDetail | undefined => {
  const record = find(workspace, id);
  return record && detailOf(record, workspace, lost);
};

/** The HTML of a sent or scheduled email. */
export const emailHtml = (workspace: Workspace, id: string): string | undefined => {
  const record = find(workspace, id);
  return record && (isSent(record) ? record : record.draft).html;
};
