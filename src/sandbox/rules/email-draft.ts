import { Refusal } from "../answer.ts";
import { type Fields, has } from "../json.ts";
import type { EmailDraft } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { notFound } from "./call.ts";
import {
  hasZone,
  invalid,
  readAddress,
  readOptionalFlag,
  readOptionalText,
  readText,
  readTime,
} from "./values.ts";

/** The account's default signature always exists. */
const assertSignature = (id: string, workspace: Workspace): void => {
  if (id !== "default" && !workspace.settings.signatures?.includes(id)) throw notFound("signature");
};

/** Reads the parts of an email. @throws Refusal 400 for an invalid field, 404 for an unknown signature. */
export const readDraft = (fields: Fields, workspace: Workspace): EmailDraft => {
  const to = readAddress(fields.to, "to");
  const subject = readText(fields.subject, "subject");
  const html = readOptionalText(fields, "html");
  const text = readOptionalText(fields, "text");
  if ((html === undefined) === (text === undefined)) {
    throw new Refusal(
      400,
      `Exactly one of html and text must be sent, got ${html === undefined ? "neither" : "both"}.`,
    );
  }
  const signatureId = readOptionalText(fields, "signatureId");
  if (signatureId !== undefined) assertSignature(signatureId, workspace);
  return {
    to,
    subject,
    force: readOptionalFlag(fields, "force") ?? false,
    ...(html === undefined ? {} : { html }),
    ...(text === undefined ? {} : { text }),
    ...(signatureId === undefined ? {} : { signatureId }),
  };
};

/** Reads `sendAt`, if given, in the service's time format. @throws Refusal 400 when it has no time zone. */
export const readSendAt = (fields: Fields): string | undefined => {
  if (!has(fields, "sendAt")) return undefined;
  const time = readTime(fields.sendAt, "sendAt");
  // readTime has checked that it is a string.
  if (!hasZone(String(fields.sendAt))) throw invalid("sendAt", "must have a time zone");
  return new Date(time).toISOString();
};
