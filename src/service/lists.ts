import * as z from "zod/mini";
import { Anything, anyRecord, EmailAddress, inputOf, objectOf, type Schema, Text } from "./common.ts";
import { operation } from "./define.ts";

/**
 * A named group of contacts. The document names only these fields; other fields are kept.
 *
 * Source: service document, List.
 */
export interface List {
  /** An opaque string. */
  id: string;
  /** Unique in the workspace. */
  name: string;
}
export const List: Schema<List> = objectOf<List>(() => ({ id: z.string(), name: z.string() }));

/**
 * A new list.
 *
 * Source: service document, List.
 */
export interface ListInput {
  /** The name; not blank. It is unique in the workspace; a duplicate gives 409. */
  name: string;
}
/** Checks a new list. */
export const ListInput: Schema<ListInput> = inputOf<ListInput>(() => ({ name: Text }));

/** The maximum number of addresses in one membership request. */
export const maxAddressesPerRequest = 1_000;

/** The contacts to add to or remove from a list in one request: 1–1,000 addresses. */
export type ListMembers = { emails: string[] };
export const ListMembers = inputOf<ListMembers>(() => ({
  emails: z
    .array(EmailAddress, "must be an array of email addresses")
    .check(
      z.minLength(1, "must have at least one address"),
      z.maxLength(maxAddressesPerRequest, "must have at most 1000 addresses"),
    ),
}));

/** Source: service document, Endpoints, Lists. It lacks the path of create and the responses of add and remove. */
export const lists = {
  create: operation("lists.create", "POST /api/v1/lists", {
    scope: ["lists:write"],
    replay: "never",
    input: ListInput,
    output: List,
    read: anyRecord("list"),
  }),
  addContacts: operation("lists.addContacts", "POST /api/v1/lists/:id/contacts", {
    scope: ["lists:write", "contacts:write"],
    replay: "idempotent",
    input: ListMembers,
    output: Anything,
    mayBeEmpty: true,
  }),
  removeContacts: operation("lists.removeContacts", "DELETE /api/v1/lists/:id/contacts", {
    scope: ["lists:write", "contacts:write"],
    replay: "idempotent",
    input: ListMembers,
    output: Anything,
    mayBeEmpty: true,
  }),
};
