import { Refusal, type Reply } from "../answer.ts";
import { type Fields, isArray } from "../json.ts";
import type { CustomFieldKind } from "../options.ts";
import type { ContactRecord } from "../store/records.ts";
import { addContact, changeContact, type Workspace } from "../store/workspace.ts";
import {
  bodyFields,
  type Call,
  invalid,
  notFound,
  type Reader,
  readAddress,
  readerOf,
  readFields,
  readFlag,
  readObject,
  readPaging,
  readText,
  readTime,
} from "./call.ts";

const isString = (value: unknown): value is string => typeof value === "string";
const isFilled = (value: unknown): value is string => isString(value) && value !== "";
const readString = readerOf(isString, "must be a string");
const readNumber = readerOf((value) => typeof value === "number", "must be a number");
const readStage = readerOf(isFilled, "must be a string that is not empty");
const readNotes = readerOf((value) => isString(value) || value === null, "must be a string or null");

const day = /^\d{4}-\d\d-\d\d$/;

const kinds: Readonly<Record<CustomFieldKind, Reader<unknown>>> = {
  text: readString,
  number: readNumber,
  boolean: readFlag,
  date: (value, field) =>
    readTime(typeof value === "string" && day.test(value) ? `${value}T00:00Z` : value, field),
};

/** Reads a patch of custom fields: a value sets its key, `null` clears it, and other keys stay. */
const readCustomFields =
  (current: Fields, definitions: Workspace["settings"]["customFields"]): Reader<Fields> =>
  (patch, field) => {
    const merged = new Map(Object.entries(current));
    for (const [name, value] of Object.entries(readObject(patch, field))) {
      const kind = definitions && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
      if (definitions !== undefined && kind === undefined)
        throw invalid(`${field}.${name}`, "is not a field of this workspace");
      if (value !== null && kind !== undefined) kinds[kind](value, `${field}.${name}`);
      if (value === null) merged.delete(name);
      else merged.set(name, value);
    }
    // fromEntries defines own properties, so a key such as __proto__ stays a plain key.
    return Object.fromEntries(merged);
  };

const readLeadId =
  ({ companies }: Workspace): Reader<string> =>
  (value, field) => {
    const leadId = readText(value, field);
    if (!companies.has(leadId)) throw invalid(field, "is not a company of this workspace");
    return leadId;
  };

const readListIds =
  ({ lists }: Workspace): Reader<string[]> =>
  (value, field) => {
    if (!isArray(value)) throw invalid(field, "must be an array of list ids");
    const ids = value.filter(isString).filter((id) => lists.has(id));
    if (ids.length < value.length)
      throw invalid(field, "contains an id that is not a list of this workspace");
    return [...new Set(ids)];
  };

const readFreeAddress =
  ({ contacts }: Workspace, own: ContactRecord | undefined): Reader<string> =>
  (value, field) => {
    const email = readAddress(value, field);
    const holder = contacts.byEmail(email);
    if (holder !== undefined && holder !== own)
      throw new Refusal(409, "Another contact already has this email.");
    return email;
  };

/**
 * Reads the contact fields of a body. Fields that a caller cannot set are ignored.
 *
 * @param current - the contact to change; the custom fields of the input are merged into its own.
 * @throws Refusal 400 for an invalid value, 409 for an address that is taken.
 */
export const readContactFields = (
  fields: Fields,
  workspace: Workspace,
  current?: ContactRecord,
  within?: string,
): Partial<ContactRecord> => {
  const readers = {
    name: readString,
    title: readString,
    phone: readString,
    linkedIn: readString,
    stage: readStage,
    source: readString,
    verified: readFlag,
    emailConfidence: readNumber,
    notes: readNotes,
    leadId: readLeadId(workspace),
    listIds: readListIds(workspace),
    customFields: readCustomFields(current?.customFields ?? {}, workspace.settings.customFields),
    email: readFreeAddress(workspace, current),
  };
  return readFields(fields, readers, within);
};

/** Creates a contact. The success status is not documented; 201 is the usual one. */
export const createContact = (call: Call): Reply => {
  const body = bodyFields(call);
  const email = readAddress(body.email, "email");
  const contact = addContact(call.workspace, { ...readContactFields(body, call.workspace), email });
  return { status: 201, body: contact };
};

export const listContacts = ({ workspace, query }: Call): Reply => {
  const { skip, limit } = readPaging(query);
  const { data, total } = workspace.contacts.page(query.get("search") ?? "", skip, limit);
  return { status: 200, body: { data, total, skip, limit } };
};

/** Changes a contact by the six rules for PATCH in the service's document. */
export const updateContact = (call: Call): Reply => {
  const contact = call.workspace.contacts.byId(call.id);
  if (contact === undefined) throw notFound("contact");
  changeContact(call.workspace, contact, readContactFields(bodyFields(call), call.workspace, contact));
  return { status: 200, body: contact };
};
