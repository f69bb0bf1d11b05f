import { operation } from "../define.ts";
import { readContactPage, readRecord } from "../response-shapes.ts";
import { Contact, ContactInput, ContactPage, ContactPatch, ContactQuery } from "./schema.ts";

/** Source: service document, Endpoints, Contacts. */
export const contacts = {
  create: operation({
    id: "contacts.create",
    method: "POST",
    path: "/api/v1/contacts",
    scope: ["contacts:write"],
    replay: "never",
    budgets: ["requests"],
    input: ContactInput,
    output: Contact,
    read: readRecord,
  }),
  list: operation({
    id: "contacts.list",
    method: "GET",
    path: "/api/v1/contacts",
    scope: [],
    replay: "safe",
    budgets: ["requests"],
    input: ContactQuery,
    output: ContactPage,
    read: readContactPage,
  }),
  update: operation({
    id: "contacts.update",
    method: "PATCH",
    path: "/api/v1/contacts/:id",
    scope: ["contacts:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: ContactPatch,
    output: Contact,
    read: readRecord,
  }),
};
