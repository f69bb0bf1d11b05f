import * as z from "zod/mini";
import { operation } from "../define.ts";
import { readChangedEmail, readRecord, readScheduledEmail, readScheduledPage } from "../response-shapes.ts";
import { writeSendAt } from "../write-timestamps.ts";
import {
  EmailInput,
  ScheduledEmail,
  ScheduledEmailInput,
  ScheduledEmailPage,
  ScheduledEmailPatch,
  ScheduledEmailQuery,
  ScheduledEmailUpdated,
  SentEmail,
} from "./schema.ts";

const scheduledPath = "/api/v1/emails/scheduled";

/** Source: service document, Endpoints, Emails. Methods and shapes of scheduled emails are not given there. */
export const emails = {
  send: operation({
    id: "emails.send",
    method: "POST",
    path: "/api/v1/emails",
    scope: ["email:write"],
    replay: "never",
    budgets: ["requests", "emails"],
    input: EmailInput,
    output: SentEmail,
    read: readRecord,
  }),
  schedule: operation({
    id: "emails.schedule",
    method: "POST",
    path: "/api/v1/emails",
    scope: ["email:write"],
    replay: "never",
    budgets: ["requests", "emails"],
    input: ScheduledEmailInput,
    output: ScheduledEmail,
    write: writeSendAt,
    read: readScheduledEmail,
  }),
  scheduledList: operation({
    id: "emails.scheduled.list",
    method: "GET",
    path: scheduledPath,
    scope: [],
    replay: "safe",
    budgets: ["requests"],
    input: ScheduledEmailQuery,
    output: ScheduledEmailPage,
    read: readScheduledPage,
  }),
  scheduledUpdate: operation({
    id: "emails.scheduled.update",
    method: "PATCH",
    path: `${scheduledPath}/:id`,
    scope: ["email:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: ScheduledEmailPatch,
    output: ScheduledEmailUpdated,
    write: writeSendAt,
    read: readChangedEmail,
    mayBeEmpty: true,
  }),
  scheduledCancel: operation({
    id: "emails.scheduled.cancel",
    method: "DELETE",
    path: `${scheduledPath}/:id`,
    scope: ["email:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: z.undefined(),
    output: z.unknown(),
    notFoundMeansDone: true,
    mayBeEmpty: true,
  }),
};
