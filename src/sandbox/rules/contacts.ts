import { Refusal, type Reply } from "../answer.ts";
import { type Fields, given, has, isArray, isFields } from "../json.ts";
import type { CustomFieldKind } from "../options.ts";
import type { ContactRecord } from "../store/records.ts";
import { addContact, changeContact, type Workspace } from "../store/workspace.ts";
import {
  bodyFields,
  type Call,
  invalid,
  notFound,
  optional,
  readAddress,
  readPaging,
  readText,
  readTime,
} from "./call.ts";

const day = /^\d{4}-\d\d-\d\d$/;

const assertKind = (value: unknown, kind: CustomFieldKind, field: string): void => {
  if (kind === "date")
    readTime(typeof value === "string" && day.test(value) ? `${value}T00:00Z` : value, field);
  else if (typeof value !== (kind === "text" ? "string" : kind)) throw invalid(field, `must be a ${kind}`);
};

/**
 * Applies a patch of custom fields: given keys are set, `null` clears a key, the others stay.
 *
 * @throws Refusal 400 for a name that is not defined or a value of another kind.
 */
const mergeCustomFields = (
  current: Fields,
  patch: unknown,
  definitions: Readonly<Record<string, CustomFieldKind>> | undefined,
): Fields => {
  if (!isFields(patch)) throw invalid("customFields", "must be an object");
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const field = `customFields.${name}`;
    const kind = definitions && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (definitions !== undefined && kind === undefined)
      throw invalid(field, "is not a field of this workspace");
    if (value !== null && kind !== undefined) assertKind(value, kind, field);
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  // fromEntries defines own properties, so a key such as __proto__ stays a plain key.
  return Object.fromEntries(merged);
};

const types = {
  name: "string",
  title: "string",
  phone: "string",
  linkedIn: "string",
  stage: "string",
  source: "string",
  verified: "boolean",
  emailConfidence: "number",
} as const;

const readPlain = (fields: Fields): Fields => {
  const sent = Object.entries(types).filter(([field]) => has(fields, field));
  for (const [field, type] of sent)
    if (typeof fields[field] !== type) throw invalid(field, `must be a ${type}`);
  return Object.fromEntries(sent.map(([field]) => [field, fields[field]]));
};

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

const readFreeAddress = (value: unknown, workspace: Workspace, own?: ContactRecord): string => {
  const email = readAddress(value, "email");
  const holder = workspace.contacts.byEmail(email);
  if (holder !== undefined && holder !== own)
    throw new Refusal(409, "Another contact already has this email.");
  return email;
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
  const definitions = workspace.settings.customFields;
  return {
    ...readPlain(fields),
    ...given({
      notes: optional(fields, "notes", readNotes),
      leadId: optional(fields, "leadId", (value) => readLeadId(value, workspace)),
      listIds: optional(fields, "listIds", (value) => readListIds(value, workspace)),
      customFields: optional(fields, "customFields", (value) =>
        mergeCustomFields(current?.customFields ?? {}, value, definitions),
      ),
      email: optional(fields, "email", (value) => readFreeAddress(value, workspace, current)),
    }),
  };
};

/** Creates a contact. The success status is not documented; 201 is the usual one. */
export const createContact = (call: Call): Reply => {
  const body = bodyFields(call);
  const email = readAddress(body.email, "email");
  const contact = addContact(call.workspace, { ...readContactFields(body, call.workspace), email });
  return { status: 201, body: contact };
};

/** Returns one page of contacts. */
export const listContacts = ({ workspace, query }: Call): Reply => {
  const { skip, limit } = readPaging(query);
  const { data, total } = workspace.contacts.page(query.get("search") ?? "", skip, limit);
  return { status: 200, body: { data, total, skip, limit } };
};

/** Changes a contact by the six PATCH rules. */
export const updateContact = (call: Call): Reply => {
  const contact = call.workspace.contacts.byId(call.id);
  if (contact === undefined) throw notFound("contact");
  changeContact(call.workspace, contact, readContactFields(bodyFields(call), call.workspace, contact));
  return { status: 200, body: contact };
};
