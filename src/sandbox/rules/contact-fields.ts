import { Refusal } from "../answer.ts";
import { type Fields, has, isArray, isFields } from "../json.ts";
import type { ContactRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { mergeCustomFields } from "./custom-fields.ts";
import { invalid, readAddress, readText } from "./values.ts";

const kinds = {
  name: "string",
  title: "string",
  phone: "string",
  linkedIn: "string",
  stage: "string",
  source: "string",
  verified: "boolean",
  emailConfidence: "number",
} as const;

const readPlain = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(kinds)
      .filter(([field]) => has(fields, field))
      .map(([field, kind]) => {
        if (typeof fields[field] !== kind) throw invalid(field, `must be a ${kind}`);
        return [field, fields[field]];
      }),
  );

const readNotes = (value: unknown): string | null => {
  if (value !== null && typeof value !== "string") throw invalid("notes", "must be a string or null");
  return value;
};

const readLeadId = (value: unknown, workspace: Workspace): string => {
  const leadId = readText(value, "leadId");
  if (!workspace.companies.has(leadId)) throw invalid("leadId", "is not a company of this workspace");
  return leadId;
};

const readListIds = (value: unknown, workspace: Workspace): string[] => {
  if (!isArray(value)) throw invalid("listIds", "must be an array of list ids");
  const ids = value.map((id) => {
    if (typeof id !== "string" || !workspace.lists.has(id)) {
      throw invalid("listIds", "holds an id that is not a list of this workspace");
    }
    return id;
  });
  return [...new Set(ids)];
};

/** Refuses an address that another contact has. @throws Refusal 409 */
const assertFree = (workspace: Workspace, email: string, own?: ContactRecord): void => {
  const holder = workspace.contacts.byEmail(email);
  if (holder !== undefined && holder !== own) {
    throw new Refusal(409, "Another contact already has this email.");
  }
};

/**
 * Reads the contact fields of a body; fields that are not a caller's to set are ignored.
 *
 * @param current - the contact to change: its custom fields are merged into.
 * @throws Refusal 400 for an invalid value, 409 for an address that is taken.
 */
export const readContactFields = (
  fields: Fields,
  workspace: Workspace,
  current?: ContactRecord,
): Partial<ContactRecord> => {
  if (fields.stage === "") throw invalid("stage", "must not be empty");
  const read: Partial<ContactRecord> = { ...readPlain(fields) };
  if (has(fields, "notes")) read.notes = readNotes(fields.notes);
  if (has(fields, "leadId")) read.leadId = readLeadId(fields.leadId, workspace);
  if (has(fields, "listIds")) read.listIds = readListIds(fields.listIds, workspace);
  if (has(fields, "customFields")) {
    if (!isFields(fields.customFields)) throw invalid("customFields", "must be an object");
    read.customFields = mergeCustomFields(
      current?.customFields ?? {},
      fields.customFields,
      workspace.settings.customFields,
    );
  }
  if (has(fields, "email")) {
    read.email = readAddress(fields.email, "email");
    assertFree(workspace, read.email, current);
  }
  return read;
};
