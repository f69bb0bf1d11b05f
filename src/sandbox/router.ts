import type { OperationFacts } from "../service/define.ts";
import { operations } from "../service/operations.ts";
import type { Reply } from "./answer.ts";
import { fieldsOf } from "./json.ts";
import type { Call } from "./rules/call.ts";
import { createCompany, findCompany, updateCompany } from "./rules/companies.ts";
import { createContact, listContacts, updateContact } from "./rules/contacts.ts";
import { cancelScheduled, listScheduled, sendEmail, updateScheduled } from "./rules/emails.ts";
import { recordBatch, recordEvent } from "./rules/events.ts";
import { addToList, createList, removeFromList } from "./rules/lists.ts";

type Rule = (call: Call) => Reply;

/** An operation, its rule, and the `:id` of the path. */
export interface Match {
  readonly operation: OperationFacts;
  readonly rule: Rule;
  readonly id: string;
}

type Operations = typeof operations;

/** One rule for each operation. An operation without a rule does not compile. */
export type RulesFor<Records> = {
  readonly [Resource in keyof Records]: { readonly [Name in keyof Records[Resource]]: Rule };
};

/** The rules, by resource and operation. */
export const rules: RulesFor<Operations> = {
  contacts: { create: createContact, list: listContacts, update: updateContact },
  companies: { create: createCompany, update: updateCompany, findByDomain: findCompany },
  lists: { create: createList, addContacts: addToList, removeContacts: removeFromList },
  events: { record: recordEvent, recordBatch },
  emails: {
    send: sendEmail,
    // `schedule` has the method and path of `send`. Their rule decides by `sendAt`.
    schedule: sendEmail,
    scheduledList: listScheduled,
    scheduledUpdate: updateScheduled,
    scheduledCancel: cancelScheduled,
  },
};

const routes = Object.entries(operations).flatMap(([resource, records]) => {
  // `rules` has the keys of `operations`.
  const ruleOf: Readonly<Record<string, Rule>> = rules[resource as keyof Operations];
  return Object.entries<OperationFacts>(records).flatMap(([name, operation]) => {
    const rule = ruleOf[name];
    const pattern = new RegExp(`^${operation.path.replace(":id", "([^/]+)")}$`);
    return rule === undefined ? [] : [{ operation, rule, pattern }];
  });
});

export const operationIds: readonly string[] = routes.map(({ operation }) => operation.id);

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
};

/** Finds the operation behind a request, if the service has one. */
export const findRoute = (method: string, path: string, body?: unknown): Match | undefined => {
  for (const { operation, rule, pattern } of routes) {
    const match = operation.method === method ? pattern.exec(path) : null;
    // One path serves two operations; only the body tells them apart.
    const isOther = operation.id === "emails.send" && fieldsOf(body).sendAt !== undefined;
    if (match !== null && !isOther) return { operation, rule, id: decode(match[1] ?? "") };
  }
  return undefined;
};
