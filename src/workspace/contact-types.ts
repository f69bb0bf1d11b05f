import type { ReadableFields } from "../service/common.ts";
import type { Contact, ContactInput, ContactPatch, ContactUpsert } from "../service/contacts.ts";

/** The custom fields of a workspace without a schema: every key and value is accepted. */
// biome-ignore lint/suspicious/noEmptyInterface: the name is what an editor shows.
export interface OpenFields {}

/** A contact from a source, as callbacks get it. */
export type GivenContact = ContactInput & {
  /** Values by the workspace's own field names. */
  customFields?: ReadableFields | undefined;
};

/** A new contact of a workspace with a schema for its custom fields. */
export interface TypedContactInput<Fields> extends Omit<ContactInput, "customFields"> {
  /** Custom fields that match the entire schema. */
  customFields?: Fields | undefined;
}

/** Changes to a contact of a workspace with a schema for its custom fields. */
export interface TypedContactPatch<Fields> extends Omit<ContactPatch, "customFields"> {
  /** Only the keys that you send change; `null` clears a key. */
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

/** The input of `contacts.create`. */
export type ContactInputOf<Fields> = [keyof Fields] extends [never]
  ? ContactInput
  : TypedContactInput<Fields>;

/** The changes that `contacts.update` takes. */
export type ContactPatchOf<Fields> = [keyof Fields] extends [never]
  ? ContactPatch
  : TypedContactPatch<Fields>;

/** The input of an upsert in a workspace with a schema for its custom fields. */
export interface TypedContactUpsert<Fields> extends Omit<ContactUpsert, "customFields"> {
  /** Only the keys that you send change; `null` clears a key. */
  customFields?: { [Name in keyof Fields]?: Fields[Name] | null | undefined } | undefined;
}

/** The input of `contacts.upsert`. */
export type ContactUpsertOf<Fields> = [keyof Fields] extends [never]
  ? ContactUpsert
  : TypedContactUpsert<Fields>;
