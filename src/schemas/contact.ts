import * as z from "zod/mini";
import {
  deferred,
  EmailAddress,
  inputObject,
  maybe,
  openUnion,
  page,
  paging,
  QueryText,
  Text,
} from "./common.ts";
import { jsonRecord } from "./json.ts";

/** Where a contact stands. Sending to the five named here is refused unless the send carries `force: true`. */
export const Stage = deferred(() => openUnion("REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"));
export type Stage = z.infer<typeof Stage>;

/** How a contact came in. */
export const Source = deferred(() => openUnion("MANUAL"));
export type Source = z.infer<typeof Source>;

/** A person, as the service returns it. Source: service document, Contact. */
export const Contact = deferred(() =>
  z.looseObject({
    id: z.string(),
    /** Unique per workspace. */
    email: z.string(),
    /** Full name. */
    name: maybe(z.string()),
    /** Job title. */
    title: maybe(z.string()),
    /** In any form. */
    phone: maybe(z.string()),
    /** Profile URL. */
    linkedIn: maybe(z.string()),
    /** Free text; `null` where there is none. */
    notes: maybe(z.string()),
    /** Upper case: `REPLIED`, …; other values than the named ones may exist. */
    stage: maybe(Stage),
    /** How the contact came in: `MANUAL`, or a value that the document does not name. */
    source: maybe(Source),
    /** Whether the address is known to exist. */
    verified: maybe(z.boolean()),
    /** How sure the service is of the address; the document gives no range. */
    emailConfidence: maybe(z.number()),
    /** Keys are the workspace's own field names. A loose object and no record: its keys need not be walked. */
    customFields: maybe(z.looseObject({})),
    /** The company the contact belongs to. */
    leadId: maybe(z.string()),
    /** The lists the contact belongs to. */
    listIds: maybe(z.array(z.string())),
    /** The caller's own user id, saved when an event supplies it. */
    externalId: maybe(z.string()),
    /** ISO 8601, UTC. */
    createdAt: maybe(z.string()),
    /** ISO 8601, UTC. */
    updatedAt: maybe(z.string()),
  }),
);
export type Contact = z.infer<typeof Contact>;

export const ContactPage = deferred(() => page(Contact));

/** Values by the workspace's own field names; `null` clears a key. */
export const CustomFields = deferred(() => jsonRecord("must be an object ({ key: null } clears a key)"));

const single = () => ({
  /** Full name. */
  name: z.optional(z.string("must be a string")),
  /** Job title. */
  title: z.optional(z.string("must be a string")),
  /** In any form. */
  phone: z.optional(z.string("must be a string")),
  /** Profile URL. */
  linkedIn: z.optional(z.string("must be a string (a profile URL)")),
  /** Free text; `null` where there is none. */
  notes: z.optional(z.nullable(z.string("must be a string or null"))),
  /** Upper case: `REPLIED`, …; other values than the named ones may exist. */
  stage: z.optional(Stage),
  /** How the contact came in: `MANUAL`, or a value that the document does not name. */
  source: z.optional(Source),
  /** Whether the address is known to exist. */
  verified: z.optional(z.boolean("must be a boolean")),
  /** How sure the service is of the address; the document gives no range. */
  emailConfidence: z.optional(z.number("must be a number")),
  /** The id of the company the contact belongs to. */
  leadId: z.optional(Text),
});

const withParts = () => ({
  /** Only the keys sent are changed; `null` clears a key. */
  customFields: z.optional(CustomFields),
  /** The ids of the contact's lists; when updating, these replace all of them. */
  listIds: z.optional(z.array(Text, "must be an array of list ids ([] for none)")),
});

type Clearable<Shape extends z.core.$ZodShape> = { [Field in keyof Shape]: z.ZodMiniNullable<Shape[Field]> };

/** The same fields, each of which may be null: only what is sent changes, so that is how a field is cleared. */
const clearable = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  // Object.entries forgets the names; they are those of the shape.
  Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => [field, z.nullable(schema)]),
  ) as Clearable<Shape>;

/** A new contact. */
export const ContactInput = deferred(() => inputObject({ email: EmailAddress, ...single(), ...withParts() }));
export type ContactInput = z.infer<typeof ContactInput>;

/**
 * The fields to change; what is not sent stays, and `null` clears a field (the document says so of custom fields
 * only). `listIds` replaces all lists, `customFields` merges key by key.
 */
export const ContactPatch = deferred(() =>
  inputObject({ email: z.optional(EmailAddress), ...clearable(single()), ...withParts() }),
);
export type ContactPatch = z.infer<typeof ContactPatch>;

/** Which contacts to list: `search` matches for example an email; `limit` is 1–200 a page, `skip` counts from 0. */
export const ContactQuery = deferred(() =>
  inputObject({
    /** What to look for, for example an email. */
    search: z.optional(QueryText),
    ...paging(),
  }),
);
export type ContactQuery = z.infer<typeof ContactQuery>;
