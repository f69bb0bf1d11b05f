import { foldAscii } from "../../runtime/fold-ascii.ts";
import { isSendRefused } from "../../service/contacts.ts";
import { Refusal, type Reply } from "../answer.ts";
import { defined, type Fields } from "../json.ts";
import { accountNamed, type MailAccount } from "../store/mail-account.ts";
import type { EmailDraft } from "../store/records.ts";
import { addContact, timestamp, type Workspace } from "../store/workspace.ts";
import { notFound, readAddress, readFields, readFlag, readText } from "./call.ts";

const optionalReaders = { html: readText, text: readText, signatureId: readText, force: readFlag };

/** Reads the parts of an email. @throws Refusal 400 for an invalid field, 404 for an unknown signature. */
export const readDraft = (fields: Fields, { settings }: Workspace): EmailDraft => {
  const to = readAddress(fields.to, "to");
  const subject = readText(fields.subject, "subject");
  const more = readFields(fields, optionalReaders);
  const { html, text, signatureId } = more;
  if ((html === undefined) === (text === undefined)) {
    const got = html === undefined ? "neither" : "both";
    throw new Refusal(400, `Exactly one of html and text must be sent, got ${got}.`);
  }
  // The account's default signature always exists.
  const signatures = ["default", ...(settings.signatures ?? [])];
  if (signatureId !== undefined && !signatures.includes(signatureId)) throw notFound("signature");
  return { to, subject, force: false, ...more };
};

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The plain-text version of an HTML body: a line for each block, URLs after links, no tags. */
const plainText = (html: string): string =>
  html
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, "")
    .replace(/<a\b[^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/gi, "$2 ($1)")
    .replace(/<br\b[^>]*>|<\/(p|div|h[1-6]|li|tr)>/gi, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? " ")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .trim();

/**
 * Returns the account that sends an email, if it may be sent now.
 *
 * @param name - the id of the account; undefined for the workspace's first account.
 * @throws Refusal 400
 */
export const accountFor = (
  draft: EmailDraft,
  name: string | undefined,
  workspace: Workspace,
): MailAccount => {
  const account = accountNamed(name, workspace.mailAccounts);
  if (account === undefined || !account.isConnected) {
    throw new Refusal(400, "The mail account of this key is no longer connected.");
  }
  if (workspace.doNotEmail.has(foldAscii(draft.to))) {
    throw new Refusal(400, "The address is on the do-not-email list.");
  }
  const contact = workspace.contacts.byEmail(draft.to);
  if (isSendRefused(contact) && !draft.force) {
    const stage = contact?.stage.toUpperCase();
    throw new Refusal(400, `The contact is in stage ${stage}; send with force: true to email them anyway.`);
  }
  return account;
};

/**
 * Sends an email that passed the checks: creates the recipient's contact if needed, records the email, and counts it
 * for the account's day.
 *
 * @returns the service's answer.
 * @throws Refusal 502 when the account fails; nothing has changed then.
 */
export const sendNow = (
  { to, subject, html, text = plainText(html ?? ""), signatureId }: EmailDraft,
  account: MailAccount,
  workspace: Workspace,
  scheduledId?: string,
): Reply["body"] => {
  if (account.failing !== undefined) throw new Refusal(502, account.failing);
  const existing = workspace.contacts.byEmail(to);
  const contact = existing ?? addContact(workspace, { email: to });
  const answer = {
    id: workspace.services.newId("msg"),
    to,
    cc: [],
    from: account.from,
    subject,
    sentAt: timestamp(workspace),
    tracked: workspace.settings.tracking ?? true,
    contactId: contact.id,
    contactCreated: existing === undefined,
  };
  const more = { text, mailAccount: account.id, ...defined({ html, signatureId, scheduledId }) };
  workspace.emails.push({ ...answer, ...more });
  workspace.services.changed();
  account.meters.get("mailAccountPerDay")?.take(1, workspace.services.clock.now());
  return answer;
};
