import type { ReadableFields } from "../service/common.ts";
import type { Contact, ContactInput, ContactPatch, ContactUpsert } from "../service/contacts.ts";

/** No schema for `customFields`: every key and value is accepted. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenFields {}

/** A contact from a source, as a callback gets it. */
export type GivenContact = ContactInput & {
  /** Values by the workspace's own field names. */
  customFields?: ReadableFields | undefined;
};

/** A new contact of a workspace whose custom fields are known. */
export interface TypedContactInput<Fields> extends Omit<ContactInput, "customFields"> {
  /** Matches the whole schema. */
  customFields?: Fields | undefined;
}

/** Changes to a contact of a workspace whose custom fields are known. */
export interface TypedContactPatch<Fields> extends Omit<ContactPatch, "customFields"> {
  /** Only the keys sent are changed; `null` clears a key. */
  customFields?: { [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
}

// `keyof` is on the left of `extends` here and below, so that a typed client is assignable to `Client`.

/** A contact with the custom fields of the schema. Each may be missing or null. */
export type ContactOf<Fields> = [keyof Fields] extends [never]
  ? Contact
  : Contact & {
      /** Values by the workspace's own field names, typed by its schema; null if cleared. */
      customFields: { [Name in keyof Fields]?: Fields[Name] | null };
    };

/** What `contacts.create` takes. */
export type ContactInputOf<Fields> = [keyof Fields] extends [never]
  ? ContactInput
  : TypedContactInput<Fields>;

/** What `contacts.update` takes. */
export type ContactPatchOf<Fields> = [keyof Fields] extends [never]
  ? ContactPatch
  : TypedContactPatch<Fields>;

/** An upsert of a workspace whose custom fields are known. */
export interface TypedContactUpsert<Fields> extends Omit<ContactUpsert, "customFields"> {
  /** Only the keys sent are changed; `null` clears a key. */
  customFields?: { [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
}

/** What `contacts.upsert` takes. */
export type ContactUpsertOf<Fields> = [keyof Fields] extends [never]
  ? ContactUpsert
  : TypedContactUpsert<Fields>;
