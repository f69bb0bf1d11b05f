import { companies } from "./companies.ts";
import { contacts } from "./contacts.ts";
import type { Operation } from "./define.ts";
import { emails } from "./emails.ts";
import { events } from "./events.ts";
import { lists } from "./lists.ts";

/** Every operation of the service, by resource. */
export const operations = { contacts, companies, lists, events, emails } as const;

/** Every operation, in one list. */
export const allOperations: readonly Operation<never, unknown>[] = Object.values(operations).flatMap(
  (resource) => Object.values(resource),
);
