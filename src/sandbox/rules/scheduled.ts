import { Refusal, type Reply } from "../answer.ts";
import { type Fields, has } from "../json.ts";
import { accountNamed } from "../store/mail-account.ts";
import type { EmailDraft, ScheduledRecord } from "../store/records.ts";
import { bodyFields, type Call, notFound } from "./call.ts";
import { dispatchLater } from "./dispatch.ts";
import { readDraft, readSendAt } from "./email-draft.ts";
import { shown } from "./emails.ts";
import { readPaging } from "./paging.ts";
import { assertSendable } from "./send.ts";

// The document only says that scheduled emails can be listed, changed and cancelled. The statuses and bodies here are the
// simplest that fit the rest of the interface.

const isWaiting = ({ status }: ScheduledRecord): boolean => status === "SCHEDULED";

const find = ({ workspace, id }: Call): ScheduledRecord => {
  const record = workspace.scheduled.get(id);
  if (record === undefined || record.status === "CANCELLED") throw notFound("scheduled email");
  return record;
};

const findWaiting = (call: Call): ScheduledRecord => {
  const record = find(call);
  if (!isWaiting(record)) throw new Refusal(400, "The email is no longer scheduled.");
  return record;
};

/** Returns a page of the emails that are not sent yet, oldest first. */
export const listScheduled = ({ workspace, query }: Call): Reply => {
  const { skip, limit } = readPaging(query);
  const waiting = [...workspace.scheduled.values()].filter(isWaiting);
  const data = waiting.slice(skip, skip + limit).map(shown);
  return { status: 200, body: { data, total: waiting.length, skip, limit } };
};

/** A new html replaces an old text, and a new text an old html. */
const merge = ({ html, text, ...rest }: EmailDraft, patch: Fields): Fields => {
  const replaces = has(patch, "html") || has(patch, "text");
  return { ...rest, ...(replaces ? {} : { html, text }), ...patch };
};

/** Changes a scheduled email that is not sent yet. */
export const updateScheduled = (call: Call): Reply => {
  const { workspace } = call;
  const record = findWaiting(call);
  const patch = bodyFields(call);
  const draft = readDraft(merge(record.draft, patch), workspace);
  const sendAt = readSendAt(patch);
  assertSendable(draft, accountNamed(record.mailAccount, workspace.mailAccounts), workspace);
  record.draft = draft;
  if (sendAt !== undefined && sendAt !== record.sendAt) {
    record.sendAt = sendAt;
    dispatchLater(record, workspace);
  }
  return { status: 200, body: shown(record) };
};

/** Cancels a scheduled email that is not sent yet: 204. A second time it is a 404. */
export const cancelScheduled = (call: Call): Reply => {
  findWaiting(call).status = "CANCELLED";
  return { status: 204, body: undefined };
};
