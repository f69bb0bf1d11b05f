import { Refusal } from "../answer.ts";
import { chargesOn, firstObstacle, spend } from "../limits.ts";
import { accountNamed } from "../store/mail-account.ts";
import type { ScheduledRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { readDraft } from "./email-draft.ts";
import { assertSendable, sendNow } from "./send.ts";

const goOut = (record: ScheduledRecord, workspace: Workspace): void => {
  const { clock } = workspace.services;
  const account = accountNamed(record.mailAccount, workspace.mailAccounts);
  // Things may have changed since the email was accepted: run every check again.
  const draft = readDraft({ ...record.draft }, workspace);
  const sender = assertSendable(draft, account, workspace);
  const charges = chargesOn(sender.meters, ["emails", "emailsPerDay"]);
  const onSending = chargesOn(sender.meters, ["mailAccountPerDay"]);
  const obstacle = firstObstacle([...charges, ...onSending], clock.now());
  if (obstacle !== undefined) {
    clock.after(Math.ceil(obstacle.waitMs), () => dispatch(record, record.sendAt, workspace), { idle: true });
    return;
  }
  spend(charges, clock.now());
  sendNow(draft, sender, workspace, record.id);
  record.status = "SENT";
};

const dispatch = (record: ScheduledRecord, sendAt: string, workspace: Workspace): void => {
  // Removed by a reset, cancelled, or moved to another time, which has its own timer.
  const isCurrent = workspace.scheduled.get(record.id) === record && record.sendAt === sendAt;
  if (!isCurrent || record.status !== "SCHEDULED") return;
  try {
    goOut(record, workspace);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    record.status = "FAILED";
    record.error = error.message;
  }
};

/** Sends the email at its time. It waits longer while the account's limits have no room. */
export const dispatchLater = (record: ScheduledRecord, workspace: Workspace): void => {
  const { clock } = workspace.services;
  const { sendAt } = record;
  const waitMs = Math.max(0, Date.parse(sendAt) - clock.wallTime());
  clock.after(waitMs, () => dispatch(record, sendAt, workspace), { idle: true });
};
