import { Refusal } from "../answer.ts";
import { type Fields, has, isArray, isFields } from "../json.ts";
import type { CustomFieldKind } from "../options.ts";
import type { ContactRecord } from "../store/records.ts";
import type { Workspace } from "../store/workspace.ts";
import { invalid, readAddress, readDate, readText } from "./values.ts";

const assertKind = (name: string, value: unknown, kind: CustomFieldKind): void => {
  const field = `customFields.${name}`;
  if (kind === "date") {
    readDate(value, field);
    return;
  }
  const type = kind === "text" ? "string" : kind;
  if (typeof value !== type) throw invalid(field, `must be a ${kind}`);
};

/**
 * Applies a patch of custom fields: given keys are set, `null` clears a key, the others stay.
 *
 * @throws Refusal 400 for a name that is not defined or a value of another kind.
 */
const mergeCustomFields = (
  current: Fields,
  patch: Fields,
  definitions: Readonly<Record<string, CustomFieldKind>> | undefined,
): Fields => {
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const kind =
      definitions !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (definitions !== undefined && kind === undefined) {
      throw invalid(`customFields.${name}`, "is not a field of this workspace");
    }
    if (value === null) merged.delete(name);
    else {
      if (kind !== undefined) assertKind(name, value, kind);
      merged.set(name, value);
    }
  }
  // fromEntries defines own properties, so a key such as __proto__ stays a plain key.
  return Object.fromEntries(merged);
};

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
      throw invalid("listIds", "contains an id that is not a list of this workspace");
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
 * Reads the contact fields of a body. Fields that a caller cannot set are ignored.
 *
 * @param current - the contact to change; its custom fields are merged with the given ones.
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
