import * as z from "zod/mini";
import { isRecord } from "../runtime/values.ts";
import { readFields } from "./check.ts";
import {
  AnyObject,
  changed,
  deferred,
  EmailAddress,
  each,
  type FreeFields,
  inputOf,
  isArray,
  objectOf,
  openText,
  page,
  paging,
  QueryText,
  type RequestInput,
  readRecord,
  type Schema,
  Text,
  Texts,
  withRequestedPaging,
  zodOf,
} from "./common.ts";
import { operation } from "./define.ts";
import { jsonRecord } from "./json.ts";

/**
 * The stage of a contact, in upper case. Sending to the five named stages is refused unless the send has `force: true`;
 * other stages may exist.
 *
 * Source: service document, States and transitions.
 */
export type ContactStage = "REPLIED" | "BOUNCED" | "UNSUBSCRIBED" | "CONVERTED" | "DEAD" | (string & {});

/**
 * The stages to which an email is refused, unless the send has `force: true`.
 *
 * Source: service document, States and transitions.
 */
export const refusedStages = ["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"] as const;

/**
 * Whether the service refuses emails to this contact because of its stage, unless they have `force: true`. A check in
 * advance saves one of the day's 300 emails. For `null`, which `contacts.find` returns for an address without a
 * contact, the result is `false`. The letter case of the stage does not matter. Only the service knows its do-not-email
 * list, which `force` does not override.
 *
 * @example
 * ```ts
 * import { isSendRefused } from "touchpoint-sdk";
 *
 * const contact = await client.contacts.find("ada@example.com");
 * if (contact !== null && isSendRefused(contact)) console.log(`${contact.email} is ${contact.stage}`);
 * ```
 * Source: service document, States and transitions.
 */
export const isSendRefused = (contact: { readonly stage: string } | null | undefined): boolean =>
  refusedStages.some((refused) => refused === contact?.stage?.toUpperCase());

export const ContactStage: Schema<ContactStage> = deferred(() => openText<ContactStage>());

/**
 * Where a contact came from: `MANUAL`, or a value that the document does not name.
 *
 * Source: service document, Contact.
 */
export type ContactSource = "MANUAL" | (string & {});
export const ContactSource: Schema<ContactSource> = deferred(() => openText<ContactSource>());

/**
 * A contact, as the service returns it. Fields that this type does not name are kept. To type your workspace's own
 * fields, merge them: `declare module "touchpoint-sdk" { interface Contact { … } }`.
 *
 * Source: service document, Contact.
 */
export interface Contact {
  /** An opaque string. */
  id: string;
  /** The email address, unique per workspace. */
  email: string;
  /** Full name. */
  name?: string | null | undefined;
  /** Job title. */
  title?: string | null | undefined;
  /** Phone number, in any form. */
  phone?: string | null | undefined;
  /** Profile URL. */
  linkedIn?: string | null | undefined;
  /** Free text; `null` if there is none. */
  notes?: string | null | undefined;
  /** Upper case: `REPLIED`, …; other values may exist. */
  stage: ContactStage;
  /** Where the contact came from: `MANUAL`, or a value that the document does not name. */
  source: ContactSource;
  /** Whether the contact is verified; the document does not say what that means. */
  verified: boolean;
  /** A number; the document gives neither meaning nor range. */
  emailConfidence?: number | null | undefined;
  /** Values by the workspace's own field names. */
  customFields: { [field: string]: unknown };
  /** The id of the company the contact belongs to. */
  leadId?: string | null | undefined;
  /** The ids of the lists the contact belongs to. */
  listIds: string[];
  /** Your own user id, saved when an event supplies it. */
  externalId?: string | null | undefined;
  /** The time of creation: ISO 8601, UTC. */
  createdAt: string;
  /** The time of the last change: ISO 8601, UTC. */
  updatedAt: string;
}
/** Checks a contact as the service returns it. */
export const Contact: Schema<Contact> = objectOf<Contact>(() => ({
  ...each(z.string(), "id", "email", "createdAt", "updatedAt"),
  ...each(z.nullish(z.string()), "name", "title", "phone", "linkedIn", "notes", "leadId", "externalId"),
  stage: ContactStage,
  source: ContactSource,
  verified: z.boolean(),
  emailConfidence: z.nullish(z.number()),
  customFields: AnyObject,
  listIds: Texts,
}));

export const ContactPage = deferred(() => page(Contact));

/** Values by the workspace's own field names; `null` clears a key. */
export const CustomFields = deferred(() => jsonRecord("must be an object ({ key: null } clears a key)"));

const text = () => z.optional(z.string("must be a string"));
const profile = () => z.optional(z.string("must be a string (a profile URL)"));

const sharedFields = () => ({
  notes: z.optional(z.nullable(z.string("must be a string or null"))),
  stage: z.optional(zodOf(ContactStage)),
  source: z.optional(zodOf(ContactSource)),
  verified: z.optional(z.boolean("must be a boolean")),
  emailConfidence: z.optional(z.number("must be a number")),
  customFields: z.optional(CustomFields),
  listIds: z.optional(z.array(Text, "must be an array of list ids ([] for none)")),
});

export const FindQuery = objectOf<{ email: string }>(() => ({ email: EmailAddress }));

/**
 * A new contact. The library requires only the address, because the document does not say which fields are required.
 * The document names `email`, `name`, `customFields`, `leadId` and "other contact fields". Declare other fields by
 * merging: `declare module "touchpoint-sdk" { interface ContactInput { … } }`.
 *
 * Source: service document, Contacts, POST, and Contact.
 */
export interface ContactInput {
  /** The email address: text, an `@` and text. It is unique per workspace; a duplicate gives 409. */
  email: string;
  /** Full name. */
  name?: string | undefined;
  /** Job title. */
  title?: string | undefined;
  /** Phone number, in any form. */
  phone?: string | undefined;
  /** Profile URL. */
  linkedIn?: string | undefined;
  /** Free text; `null` if there is none. */
  notes?: string | null | undefined;
  /** Upper case: `REPLIED`, …; other values may exist. */
  stage?: ContactStage | undefined;
  /** Where the contact came from: `MANUAL`, or a value that the document does not name. */
  source?: ContactSource | undefined;
  /** Whether the contact is verified; the document does not say what that means. */
  verified?: boolean | undefined;
  /** A number; the document gives neither meaning nor range. */
  emailConfidence?: number | undefined;
  /** Values by the workspace's own field names; the service refuses an unknown name with 400. */
  customFields?: FreeFields | undefined;
  /** The id of the company the contact belongs to. */
  leadId?: string | undefined;
  /** The ids of the contact's lists. */
  listIds?: string[] | undefined;
}
/** Checks a new contact. */
export const ContactInput: Schema<ContactInput> = inputOf<ContactInput>(() => ({
  email: EmailAddress,
  ...each(text(), "name", "title", "phone"),
  linkedIn: profile(),
  leadId: z.optional(Text),
  ...sharedFields(),
}));

/**
 * The input of `contacts.upsert`: a new contact, or a contact that you have read. `null` leaves a field unchanged.
 */
export type ContactUpsert = {
  [Field in keyof ContactInput]: Field extends "email" ? ContactInput[Field] : ContactInput[Field] | null;
};

/** The fields of a contact from the service that an upsert does not send. Old `listIds` would undo changes of lists. */
const readOnly = ["id", "createdAt", "updatedAt", "listIds", "externalId"];

/**
 * Copies the input of an upsert, or a row of an import, without fields that are `null`. If the input has an `id`, it is
 * a contact from the service: the copy lacks the fields of `readOnly`, too.
 */
export const readUpsert = <Input>(input: Input): Input => {
  const fields: unknown = readFields(ContactInput, input);
  if (!isRecord(fields)) return input;
  const wasRead = typeof fields.id === "string";
  for (const [name, value] of Object.entries(fields))
    if (value === null || (wasRead && readOnly.includes(name))) Reflect.deleteProperty(fields, name);
  // `fields` is a copy of the input, without the fields removed above.
  return fields as Input;
};

// Don't derive this type from another one: an editor would show helper types instead of the fields.
/**
 * The fields of a contact to change. Fields that you leave out stay the same.
 *
 * The document shows `email`, `stage`, `customFields` and `listIds` as updatable, and does not show the full list. The
 * other fields here are the remaining fields of `ContactInput`. The document says that `null` clears a key of
 * `customFields`. It does not say so about any other field that takes `null`.
 *
 * Source: service document, Contacts, PATCH rules 1–6.
 */
export interface ContactPatch {
  /** The new address. The service refuses the address of another contact with 409. */
  email?: string | undefined;
  /** Full name; `null` clears it. Changing and clearing are not documented. */
  name?: string | null | undefined;
  /** Job title; `null` clears it. Changing and clearing are not documented. */
  title?: string | null | undefined;
  /** Phone number, in any form; `null` clears it. Changing and clearing are not documented. */
  phone?: string | null | undefined;
  /** Profile URL; `null` clears it. Changing and clearing are not documented. */
  linkedIn?: string | null | undefined;
  /** Free text; `null` clears it. Changing and clearing are not documented. */
  notes?: string | null | undefined;
  /** Upper case: `REPLIED`, …; other values may exist. */
  stage?: ContactStage | undefined;
  /**
   * Where the contact came from: `MANUAL`, or a value that the document does not name. The document does not say
   * whether it can be changed.
   */
  source?: ContactSource | undefined;
  /** Whether the contact is verified. The document does not say what that means, or whether it can be changed. */
  verified?: boolean | undefined;
  /** A number. The document gives neither meaning nor range, and does not say whether it can be changed. */
  emailConfidence?: number | undefined;
  /** Only the given keys change; `null` clears a key. */
  customFields?: FreeFields | undefined;
  /** The id of the company the contact belongs to; `null` clears it. Changing and clearing are not documented. */
  leadId?: string | null | undefined;
  /** The ids of all lists of the contact; they replace the current ones. `[]` for none. */
  listIds?: string[] | undefined;
}
/** Checks the changes to a contact. */
export const ContactPatch: Schema<ContactPatch> = inputOf<ContactPatch>(() => ({
  email: z.optional(EmailAddress),
  ...each(z.nullable(text()), "name", "title", "phone"),
  linkedIn: z.nullable(profile()),
  leadId: z.nullable(z.optional(Text)),
  ...sharedFields(),
}));

/**
 * Which contacts to list.
 *
 * Source: service document, Contacts, GET.
 */
export interface ContactQuery {
  /** The text to search for, for example an email. */
  search?: string | undefined;
  /** How many contacts to skip at the start, from 0. */
  skip?: number | undefined;
  /** Contacts per page, 1–200. The service's default is 50; an iteration uses 200. */
  limit?: number | undefined;
}
export const ContactQuery: Schema<ContactQuery> = inputOf<ContactQuery>(() => ({
  search: z.optional(QueryText),
  ...paging(),
}));

/** Reads a page of contacts. */
const readContactPage = (body: unknown, request: RequestInput): unknown =>
  isRecord(body) && isArray(body.data)
    ? withRequestedPaging({ ...body, data: body.data.map(readRecord) }, request)
    : body;

/** Source: service document, Endpoints, Contacts. */
export const contacts = {
  create: operation("contacts.create", "POST /api/v1/contacts", {
    scope: ["contacts:write"],
    replay: "never",
    input: ContactInput,
    output: Contact,
    read: readRecord,
    typedInput: "contact",
    typedOutput: "contact",
  }),
  list: operation("contacts.list", "GET /api/v1/contacts", {
    replay: "safe",
    input: ContactQuery,
    output: ContactPage,
    read: readContactPage,
    typedOutput: "page",
  }),
  update: operation("contacts.update", "PATCH /api/v1/contacts/:id", {
    scope: ["contacts:write"],
    replay: "idempotent",
    isPartial: true,
    input: ContactPatch,
    output: Contact,
    read: changed(readRecord),
    // The document says that the response is the contact. A service that responds without a body has updated it anyway.
    mayBeEmpty: true,
    typedInput: "contact",
    typedOutput: "contact",
  }),
};
