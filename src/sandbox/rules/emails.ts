import { Refusal, type Reply } from "../answer.ts";
import { type Fields, has } from "../json.ts";
import { chargesOn, spend } from "../limits.ts";
import type { EmailDraft, ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { bodyFields, type Call, notFound, readFields, readPaging, readTime } from "./call.ts";
import { accountFor, readDraft, sendNow } from "./send.ts";

// The document only says that scheduled emails can be listed, changed and cancelled. The statuses and bodies here are
// the simplest that fit the rest of the interface.

/** Sends the email at its `sendAt`, or as soon after it as the account's limits have room. */
export const dispatchLater = (record: ScheduledRecord, workspace: Workspace): void => {
  const { clock } = workspace.services;
  const { id, sendAt } = record;
  const dispatch = (): void => {
    // A reset may have removed the email, or a caller may have cancelled or moved it. A moved email has another timer.
    const isCurrent = workspace.scheduled.get(id) === record && record.sendAt === sendAt;
    if (!isCurrent || record.status !== "SCHEDULED") return;
    try {
      // The workspace may have changed since the service accepted the email, so run every check again.
      const draft = readDraft({ ...record.draft }, workspace);
      const account = accountFor(draft, record.mailAccount, workspace);
      spend(chargesOn(account.meters), clock.now());
      sendNow(draft, account, workspace, id);
      record.status = "SENT";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.retryAfterMs !== undefined) return dispatchAfter(Math.ceil(error.retryAfterMs));
      record.status = "FAILED";
      record.error = error.message;
    }
  };
  const dispatchAfter = (ms: number): void => void clock.after(ms, dispatch, { idle: true });
  dispatchAfter(Math.max(0, Date.parse(sendAt) - clock.wallTime()));
};

/** A scheduled email, as the service returns it. */
const shown = ({ id, status, sendAt }: ScheduledRecord): object => ({ id, status, sendAt });

/** Reads `sendAt`, if present, in the service's time format. @throws Refusal 400 when it has no time zone. */
const readSendAt = (fields: Fields): string | undefined =>
  readFields(fields, { sendAt: (value, field) => new Date(readTime(value, field)).toISOString() }).sendAt;

const schedule = (call: Call, draft: EmailDraft, sendAt: string, mailAccount: string): Reply => {
  const { workspace } = call;
  const id = workspace.services.newId("se");
  const record: ScheduledRecord = { id, status: "SCHEDULED", sendAt, draft, mailAccount };
  workspace.scheduled.set(id, record);
  dispatchLater(record, workspace);
  return { status: 201, body: { scheduled: true, email: shown(record) } };
};

/** Sends one email now (200), or schedules it for `sendAt` (201). */
export const sendEmail = (call: Call): Reply => {
  const { workspace, key } = call;
  const body = bodyFields(call);
  const draft = readDraft(body, workspace);
  const sendAt = readSendAt(body);
  const account = accountFor(draft, key.settings.mailAccount, workspace);
  if (sendAt !== undefined) return schedule(call, draft, sendAt, account.id);
  return { status: 200, body: sendNow(draft, account, workspace) };
};

const isWaiting = ({ status }: ScheduledRecord): boolean => status === "SCHEDULED";

const findWaiting = ({ workspace, id }: Call): ScheduledRecord => {
  const record = workspace.scheduled.get(id);
  if (record === undefined || record.status === "CANCELLED") throw notFound("scheduled email");
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

/** Applies a patch. A new `html` replaces an old `text`, and a new `text` replaces an old `html`. */
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
  accountFor(draft, record.mailAccount, workspace);
  record.draft = draft;
  if (sendAt !== undefined && sendAt !== record.sendAt) {
    record.sendAt = sendAt;
    dispatchLater(record, workspace);
  }
  return { status: 200, body: shown(record) };
};

/** Cancels a scheduled email that is not sent yet: 204. A second cancel is a 404. */
export const cancelScheduled = (call: Call): Reply => {
  findWaiting(call).status = "CANCELLED";
  return { status: 204, body: undefined };
};
