import { Refusal } from "../answer.ts";
import { type Fields, has } from "../json.ts";
import type { EmailDraft } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { notFound } from "./call.ts";
import { readAddress, readOptionalFlag, readOptionalText, readText, readTime } from "./values.ts";

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
  if (signatureId !== undefined && !workspace.signatures.has(signatureId)) throw notFound("signature");
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
  return new Date(readTime(fields.sendAt, "sendAt")).toISOString();
};
