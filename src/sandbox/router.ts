import { operations } from "../service/operations.ts";
import type { Reply } from "./answer.ts";
import type { OperationData } from "./keys.ts";
import type { Call } from "./rules/call.ts";
import { createCompany, findCompany, updateCompany } from "./rules/companies.ts";
import { createContact, listContacts, updateContact } from "./rules/contacts.ts";
import { sendEmail } from "./rules/emails.ts";
import { recordBatch, recordEvent } from "./rules/events.ts";
import { addToList, createList, removeFromList } from "./rules/lists.ts";
import { cancelScheduled, listScheduled, updateScheduled } from "./rules/scheduled.ts";

/** Simulates one operation. */
export type Rule = (call: Call) => Reply;

/** An operation, its rule, and the `:id` of the path. */
export interface Match {
  readonly operation: OperationData;
  readonly rule: Rule;
  readonly id: string;
}

type Operations = typeof operations;

/** A rule for every record: an operation without one does not compile. */
export type RulesFor<Records> = {
  readonly [Resource in keyof Records]: { readonly [Name in keyof Records[Resource]]: Rule };
};

/** The rules, by the names of the records. */
export const rules: RulesFor<Operations> = {
  contacts: { create: createContact, list: listContacts, update: updateContact },
  companies: { create: createCompany, update: updateCompany, findByDomain: findCompany },
  lists: { create: createList, addContacts: addToList, removeContacts: removeFromList },
  events: { record: recordEvent, recordBatch },
  emails: {
    send: sendEmail,
    // The same method and path: the rule decides by `sendAt`.
    schedule: sendEmail,
    scheduledList: listScheduled,
    scheduledUpdate: updateScheduled,
    scheduledCancel: cancelScheduled,
  },
};

interface Route {
  readonly operation: OperationData;
  readonly rule: Rule;
  readonly segments: readonly string[];
}

const routesOf = (
  records: Readonly<Record<string, OperationData>>,
  ruleOf: Readonly<Record<string, Rule>>,
): Route[] =>
  Object.entries(records).flatMap(([name, operation]) => {
    const rule = ruleOf[name];
    return rule === undefined ? [] : [{ operation, rule, segments: operation.path.split("/") }];
  });

const routes: readonly Route[] = Object.entries(operations).flatMap(([resource, records]) =>
  // `rules` has the keys of `operations`.
  routesOf(records, rules[resource as keyof Operations]),
);

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
