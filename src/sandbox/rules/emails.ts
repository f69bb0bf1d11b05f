import type { Reply } from "../answer.ts";
import { accountNamed } from "../store/mail-account.ts";
import type { EmailDraft, EmailRecord, ScheduledRecord } from "../store/records.ts";
import { bodyFields, type Call } from "./call.ts";
import { dispatchLater } from "./dispatch.ts";
import { readDraft, readSendAt } from "./email-draft.ts";
import { assertSendable, sendNow } from "./send.ts";

/** A scheduled email, as the service returns it. */
export const shown = ({ id, status, sendAt }: ScheduledRecord): object => ({ id, status, sendAt });

const answerOf = ({
  html: _html,
  text: _text,
  signatureId: _sig,
  mailAccount: _account,
  ...rest
}: EmailRecord) => {
  const { scheduledId: _scheduled, ...answer } = rest;
  return answer;
};

const keep = (call: Call, draft: EmailDraft, sendAt: string, mailAccount: string): Reply => {
  const { workspace } = call;
  const record: ScheduledRecord = {
    id: workspace.services.newId("se"),
    status: "SCHEDULED",
    sendAt,
    draft,
    mailAccount,
  };
  workspace.scheduled.set(record.id, record);
  dispatchLater(record, workspace);
  const kept = call.scheduledResponse === "flat" ? shown(record) : { email: shown(record) };
  return { status: 201, body: { scheduled: true, ...kept } };
};

/** Sends one email now (200), or schedules it for `sendAt` (201). */
export const sendEmail = (call: Call): Reply => {
  const { workspace, key } = call;
  const body = bodyFields(call);
  const draft = readDraft(body, workspace);
  const sendAt = readSendAt(body);
  const account = assertSendable(draft, accountNamed(key.mailAccount, workspace.mailAccounts), workspace);
  if (sendAt !== undefined) return keep(call, draft, sendAt, account.id);
  return { status: 200, body: answerOf(sendNow(draft, account, workspace)) };
};
