import fc from "fast-check";
import type { Client } from "../../src/client.ts";
import * as inputs from "./properties-inputs.ts";
import { known } from "./properties-world.ts";

/** One method with its inputs and the request that the document gives for it. */
export interface Property {
  readonly operation: string;
  readonly method: string;
  /** With `:id` in it where the method takes an id. */
  readonly path: string;
  readonly payload: fc.Arbitrary<unknown>;
  /** The id of a record that is there, where the path has one. */
  readonly id?: string;
  /** What is not sent as it was given. */
  readonly wire?: (payload: never) => unknown;
  readonly call: (client: Client, payload: never, id: string) => PromiseLike<unknown>;
}

/** Every method that sends one request. Methods and paths are typed by hand from the service document. */
export const properties: readonly Property[] = [
  {
    operation: "contacts.create",
    method: "POST",
    path: "/api/v1/contacts",
    payload: inputs.contactInput,
    call: (client, payload) => client.contacts.create(payload),
  },
  {
    operation: "contacts.list",
    method: "GET",
    path: "/api/v1/contacts",
    payload: inputs.contactQuery,
    call: (client, payload) => client.contacts.list(payload),
  },
  {
    operation: "contacts.update",
    method: "PATCH",
    path: "/api/v1/contacts/:id",
    id: known.contact,
    payload: inputs.contactPatch,
    call: (client, payload, id) => client.contacts.update(id, payload),
  },
  {
    operation: "companies.create",
    method: "POST",
    path: "/api/v1/companies",
    payload: inputs.companyInput,
    call: (client, payload) => client.companies.create(payload),
  },
  {
    operation: "companies.update",
    method: "PATCH",
    path: "/api/v1/companies/:id",
    id: known.company,
    payload: inputs.companyPatch,
    call: (client, payload, id) => client.companies.update(id, payload),
  },
  {
    operation: "companies.findByDomain",
    method: "GET",
    path: "/api/v1/companies",
    payload: inputs.domain,
    wire: (domain) => ({ domain }),
    call: (client, payload) => client.companies.findByDomain(payload),
  },
  {
    operation: "lists.create",
    method: "POST",
    path: "/api/v1/lists",
    payload: inputs.listInput,
    call: (client, payload) => client.lists.create(payload),
  },
  {
    operation: "lists.addContacts",
    method: "POST",
    path: "/api/v1/lists/:id/contacts",
    id: known.list,
    payload: inputs.addresses,
    wire: (emails) => ({ emails }),
    call: (client, payload, id) => client.lists.addContacts(id, payload),
  },
  {
    operation: "lists.removeContacts",
    method: "DELETE",
    path: "/api/v1/lists/:id/contacts",
    id: known.list,
    payload: inputs.addresses,
    wire: (emails) => ({ emails }),
    call: (client, payload, id) => client.lists.removeContacts(id, payload),
  },
  {
    operation: "events.record",
    method: "POST",
    path: "/api/v1/events",
    payload: inputs.eventInput,
    call: (client, payload) => client.events.record(payload),
  },
  {
    operation: "events.recordBatch",
    method: "POST",
    path: "/api/v1/events/batch",
    payload: inputs.eventBatch,
    wire: (events) => ({ events }),
    call: (client, payload) => client.events.recordBatch(payload),
  },
  {
    operation: "emails.send",
    method: "POST",
    path: "/api/v1/emails",
    payload: inputs.emailInput,
    call: (client, payload) => client.emails.send(payload),
  },
  {
    operation: "emails.schedule",
    method: "POST",
    path: "/api/v1/emails",
    payload: inputs.scheduledEmailInput,
    call: (client, payload) => client.emails.schedule(payload),
  },
  {
    operation: "emails.scheduled.list",
    method: "GET",
    path: "/api/v1/emails/scheduled",
    payload: inputs.pagingQuery,
    call: (client, payload) => client.emails.scheduled.list(payload),
  },
  {
    operation: "emails.scheduled.update",
    method: "PATCH",
    path: "/api/v1/emails/scheduled/:id",
    id: known.scheduled,
    payload: inputs.scheduledEmailPatch,
    call: (client, payload, id) => client.emails.scheduled.update(id, payload),
  },
  {
    operation: "emails.scheduled.cancel",
    method: "DELETE",
    path: "/api/v1/emails/scheduled/:id",
    id: known.scheduled,
    payload: fc.constant(undefined),
    call: (client, _payload, id) => client.emails.scheduled.cancel(id),
  },
];
