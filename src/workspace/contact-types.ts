import type { ReadableFields } from "../service/common.ts";
import type { Contact, ContactInput, ContactPatch } from "../service/contacts.ts";

/** No schema for `customFields`, so every key and every value will do. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenFields {}

/** A contact of a source, as a callback is handed it. */
export type GivenContact = ContactInput & {
  /** Values by the workspace's own field names. */
  customFields?: ReadableFields | undefined;
};

/** A new contact of a workspace whose custom fields are known. */
export interface TypedContactInput<Fields> extends Omit<ContactInput, "customFields"> {
  /** Fits the schema as a whole. */
  customFields?: Fields | undefined;
}

/** Changes to a contact of a workspace whose custom fields are known. */
export interface TypedContactPatch<Fields> extends Omit<ContactPatch, "customFields"> {
  /** Only the keys sent are changed; `null` clears a key. */
  customFields?: { [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
}

// `keyof` on the left of `extends`, here and below: a client with a schema can then be given where any client will do.

/** A contact, with the custom fields that the schema describes; each may be missing or cleared. */
export type ContactOf<Fields> = [keyof Fields] extends [never]
  ? Contact
  : Contact & {
      /** Values by the workspace's own field names, typed by its schema; null where one is cleared. */
      customFields: { [Name in keyof Fields]?: Fields[Name] | null };
    };

/** What `contacts.create` and `contacts.upsert` take. */
export type ContactInputOf<Fields> = [keyof Fields] extends [never]
  ? ContactInput
  : TypedContactInput<Fields>;

/** What `contacts.update` takes. */
export type ContactPatchOf<Fields> = [keyof Fields] extends [never]
  ? ContactPatch
  : TypedContactPatch<Fields>;
