import { companies } from "./companies/operations.ts";
import { contacts } from "./contacts/operations.ts";
import { emails } from "./emails/operations.ts";
import { events } from "./events/operations.ts";
import { lists } from "./lists/operations.ts";

/** Every operation of the service, by resource. */
export const operations = { contacts, companies, lists, events, emails } as const;
