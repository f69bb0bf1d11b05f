import { foldAscii } from "../../runtime/fold-ascii.ts";
import { defined } from "../json.ts";
import type { EmailRecord, ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { messageHeaders } from "./message.ts";
import { type Rows, selectRows, shows } from "./rows.ts";

/** Ids of records whose request got no usable response. */
type Lost = ReadonlySet<string>;

const isSent = (record: EmailRecord | ScheduledRecord): record is EmailRecord => "sentAt" in record;

const rowOf = (record: EmailRecord | ScheduledRecord, lost: Lost) => {
  const { to, subject, text = "" } = isSent(record) ? record : record.draft;
  const [status, at] = isSent(record) ? (["SENT", record.sentAt] as const) : [record.status, record.sendAt];
  const preview = text.replace(/\s+/g, " ").trim().slice(0, 120);
  // Whether the service accepted the email, but the caller got no usable response.
  const isLost = lost.has((isSent(record) ? record.scheduledId : undefined) ?? record.id);
  return { id: record.id, status, at, to, subject, preview, isLost };
};

/** A row of the email list: a sent or scheduled email, with the time when it was or will be sent. */
export type EmailRow = ReturnType<typeof rowOf>;

const yes = (is: boolean): string => (is ? "yes" : "no");

const detailOf = (record: EmailRecord | ScheduledRecord, { name, contacts }: Workspace, lost: Lost) => {
  const { to, html, text, signatureId } = isSent(record) ? record : record.draft;
  const facts = isSent(record)
    ? {
        "Opens and clicks tracked": yes(record.tracked),
        "Recipient became a contact": yes(record.contactCreated),
        Signature: signatureId,
        "Scheduled as": record.scheduledId,
      }
    : { "Ignores refused stages": yes(record.draft.force), "Reason for failure": record.error };
  return {
    ...rowOf(record, lost),
    workspace: name,
    from: isSent(record) ? record.from : undefined,
    html,
    text,
    headers: isSent(record) ? messageHeaders(record) : undefined,
    contactId: isSent(record) ? record.contactId : contacts.byEmail(to)?.id,
    facts: Object.entries<string>(defined({ "Mail account": record.mailAccount, ...facts })),
  };
};

/** One email with all its details; without sender and headers until it is sent. */
export type EmailDetail = ReturnType<typeof detailOf>;

/** Lists waiting emails, soonest first, then sent, failed and cancelled ones, newest first. */
export const listEmails = (workspace: Workspace, lost: Lost, filter: URLSearchParams): Rows<EmailRow> => {
  const only = filter.get("to");
  const fits = (record: EmailRecord | ScheduledRecord): boolean => {
    const { to } = isSent(record) ? record : record.draft;
    const isTo = only === null || foldAscii(only) === foldAscii(to);
    return isTo && shows(filter, () => detailOf(record, workspace, lost));
  };
  const toRow = (record: EmailRecord | ScheduledRecord) => rowOf(record, lost);
  const byTime = (a: EmailRow, b: EmailRow) => Date.parse(b.at) - Date.parse(a.at);
  const scheduled = [...workspace.scheduled.values()]
    .filter((one) => one.status !== "SENT" && fits(one))
    .map(toRow);
  const waiting = scheduled.filter(({ status }) => status === "SCHEDULED");
  const ended = scheduled.filter(({ status }) => status !== "SCHEDULED");
  const sent = selectRows(workspace.emails, fits, toRow);
  return {
    items: [...waiting.sort((a, b) => byTime(b, a)), ...[...sent.items, ...ended].sort(byTime)],
    more: sent.more,
  };
};

/** One email, by the id of the message or of the scheduled email. */
export const emailDetail = (workspace: Workspace, lost: Lost, id: string): EmailDetail | undefined => {
  const record = workspace.emails.find((email) => email.id === id) ?? workspace.scheduled.get(id);
  return record && detailOf(record, workspace, lost);
};
