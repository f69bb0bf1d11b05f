import * as z from "zod/mini";
import { operation } from "../define.ts";
import { readList } from "../response-shapes.ts";
import { List, ListInput, ListMembers } from "./schema.ts";

/**
 * Source: service document, Endpoints, Lists. The create path and the answers of add and remove are not given
 * there.
 */
export const lists = {
  create: operation({
    id: "lists.create",
    method: "POST",
    path: "/api/v1/lists",
    scope: ["lists:write"],
    replay: "never",
    budgets: ["requests"],
    input: ListInput,
    output: List,
    read: readList,
  }),
  addContacts: operation({
    id: "lists.addContacts",
    method: "POST",
    path: "/api/v1/lists/:id/contacts",
    scope: ["lists:write", "contacts:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: ListMembers,
    output: z.unknown(),
    mayBeEmpty: true,
  }),
  removeContacts: operation({
    id: "lists.removeContacts",
    method: "DELETE",
    path: "/api/v1/lists/:id/contacts",
    scope: ["lists:write", "contacts:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: ListMembers,
    output: z.unknown(),
    mayBeEmpty: true,
  }),
};
