import { foldAscii } from "../../runtime/fold-ascii.ts";
import { Refusal } from "../answer.ts";
import { chargesOn, spend } from "../limits.ts";
import type { MailAccount } from "../store/mail-account.ts";
import type { EmailDraft, EmailRecord } from "../store/records.ts";
import { addContact, timestamp, type Workspace } from "../store/workspace.ts";

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
  nbsp: " ",
};

/** The plain-text version of an HTML body: a line for each block, URLs after links, no tags. */
const plainText = (html: string): string =>
  html
    .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, "")
    .replace(/<a\b[^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/gi, "$2 ($1)")
    .replace(/<br\b[^>]*>|<\/(p|div|h[1-6]|li|tr)>/gi, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? "")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .trim();

const refusedStages = new Set(["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"]);

/** Refuses an email that must not be sent now. @throws Refusal 400 */
export const assertSendable = (
  draft: EmailDraft,
  account: MailAccount | undefined,
  workspace: Workspace,
): MailAccount => {
  if (account === undefined || !account.isConnected) {
    throw new Refusal(400, "The mail account of this key is no longer connected.");
  }
  if (workspace.doNotEmail.has(foldAscii(draft.to))) {
    throw new Refusal(400, "The address is on the do-not-email list.");
  }
  const stage = workspace.contacts.byEmail(draft.to)?.stage.toUpperCase() ?? "";
  if (refusedStages.has(stage) && !draft.force) {
    throw new Refusal(400, `The contact is in stage ${stage}; send with force: true to email them anyway.`);
  }
  return account;
};

/**
 * Sends an email that passed the checks: creates the recipient's contact if needed, records the email, and counts it for
 * the account's day.
 *
 * @throws Refusal 502 when the account fails; nothing has changed then.
 */
export const sendNow = (
  draft: EmailDraft,
  account: MailAccount,
  workspace: Workspace,
  scheduledId?: string,
): EmailRecord => {
  if (account.failing !== undefined) throw new Refusal(502, account.failing);
  const known = workspace.contacts.byEmail(draft.to);
  const contact = known ?? addContact(workspace, { email: draft.to });
  const { html, text, signatureId } = draft;
  const email: EmailRecord = {
    id: workspace.services.newId("msg"),
    to: draft.to,
    cc: [],
    from: account.from,
    subject: draft.subject,
    sentAt: timestamp(workspace),
    tracked: workspace.tracking,
    contactId: contact.id,
    contactCreated: known === undefined,
    ...(html === undefined ? {} : { html }),
    text: text ?? plainText(html ?? ""),
    ...(signatureId === undefined ? {} : { signatureId }),
    mailAccount: account.id,
    ...(scheduledId === undefined ? {} : { scheduledId }),
  };
  workspace.emails.push(email);
  workspace.services.changed();
  spend(chargesOn(account.meters, ["mailAccountPerDay"]), workspace.services.clock.now());
  return email;
};
