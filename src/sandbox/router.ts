import { operations } from "../operations/index.ts";
import type { Reply } from "./answer.ts";
import type { OperationData } from "./operation-data.ts";
import type { Call } from "./rules/call.ts";
import { createCompany, findCompany, updateCompany } from "./rules/companies.ts";
import { createContact, listContacts, updateContact } from "./rules/contacts.ts";
import { sendEmail } from "./rules/emails.ts";
import { recordBatch, recordEvent } from "./rules/events.ts";
import { addToList, createList, removeFromList } from "./rules/lists.ts";
import { cancelScheduled, listScheduled, updateScheduled } from "./rules/scheduled.ts";

/** Keeps the rules of one operation. */
export type Rule = (call: Call) => Reply;

/** An operation, the rules behind it, and the `:id` of the path. */
export interface Match {
  readonly operation: OperationData;
  readonly rule: Rule;
  readonly id: string;
}

interface Route {
  readonly operation: OperationData;
  readonly rule: Rule;
  readonly segments: readonly string[];
}

const route = (operation: OperationData, rule: Rule): Route => ({
  operation,
  rule,
  segments: operation.path.split("/"),
});

const routes: readonly Route[] = [
  route(operations.contacts.create, createContact),
  route(operations.contacts.list, listContacts),
  route(operations.contacts.update, updateContact),
  route(operations.companies.create, createCompany),
  route(operations.companies.update, updateCompany),
  route(operations.companies.findByDomain, findCompany),
  route(operations.lists.create, createList),
  route(operations.lists.addContacts, addToList),
  route(operations.lists.removeContacts, removeFromList),
  route(operations.events.record, recordEvent),
  route(operations.events.recordBatch, recordBatch),
  // Sending and scheduling share one method and path.
  route(operations.emails.send, sendEmail),
  route(operations.emails.scheduledList, listScheduled),
  route(operations.emails.scheduledUpdate, updateScheduled),
  route(operations.emails.scheduledCancel, cancelScheduled),
];

const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

const matchRoute = (candidate: Route, method: string, segments: readonly string[]): Match | undefined => {
  const { operation, rule } = candidate;
  if (operation.method !== method || candidate.segments.length !== segments.length) return undefined;
  let id = "";
  for (const [index, wanted] of candidate.segments.entries()) {
    const segment = segments[index] ?? "";
    if (wanted === ":id") id = decode(segment) ?? "";
    else if (wanted !== segment) return undefined;
    if (segment === "" && index > 0) return undefined;
  }
  return { operation, rule, id };
};

/** Finds the operation behind a method and a path, if the service has one. */
export const findRoute = (method: string, path: string): Match | undefined => {
  const segments = path.split("/");
  for (const candidate of routes) {
    const match = matchRoute(candidate, method, segments);
    if (match !== undefined) return match;
  }
  return undefined;
};
