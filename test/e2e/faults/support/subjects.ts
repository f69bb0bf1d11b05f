import type { CallOptions, Client } from "../../../../src/index.ts";
import type { Sandbox, SandboxState } from "../../../../src/sandbox/index.ts";
import { callApi } from "./call-api.ts";

/** The contract's word for what a repeat would do, typed by hand from its table and not read from the code. */
export type Replay = "read" | "repeated" | "never";

/** One operation of the matrix, on data of its own. */
export interface Subject {
  /** Its operation, and what makes it a case of its own where there are two. */
  readonly name: string;
  readonly operation: string;
  readonly replay: Replay;
  /** The document does not show what it answers, so an answer without a body is one. */
  readonly mayBeEmpty?: boolean;
  /** The service answers it without a body, so there is nothing to break off or to distort. */
  readonly hasNoBody?: boolean;
  /** The fields that its answer cannot do without; none where not given. */
  readonly needs?: readonly string[];
  /** The document does not show what it answers, so that anything fits. */
  readonly fitsAnything?: boolean;
  /** How many records one call makes; 1 where not given. */
  readonly size?: number;
  /** Puts in what the call needs; answers the id it works on. */
  prepare?(sandbox: Sandbox): Promise<string>;
  call(client: Client, options: CallOptions, id: string): Promise<unknown>;
  /** How often the effect has happened, by what is in the sandbox. */
  effects(state: SandboxState, id: string): number;
}

const person = { email: "ada@example.com" };
const sendAt = "2099-01-01T09:00:00Z";
const email = { to: person.email, subject: "Hello", text: "Hello." };

const addPerson = async (sandbox: Sandbox): Promise<string> => sandbox.addContact(person).id;
const addCompany = (sandbox: Sandbox) =>
  callApi(sandbox, "POST", "/companies", { companyName: "Acme", domain: "acme.example" });
const addList = (sandbox: Sandbox) => callApi(sandbox, "POST", "/lists", { name: "Members" });
const addScheduled = (sandbox: Sandbox) => callApi(sandbox, "POST", "/emails", { ...email, sendAt });

const addMember = async (sandbox: Sandbox): Promise<string> => {
  const id = await addList(sandbox);
  await callApi(sandbox, "POST", `/lists/${id}/contacts`, { emails: [person.email] });
  return id;
};

const countOf = (isTrue: boolean): number => (isTrue ? 1 : 0);
const members = ({ contacts }: SandboxState, id: string): number =>
  contacts.filter(({ listIds }) => listIds.includes(id)).length;

/** Every operation, and those twice whose input decides whether a repeat is harmless. */
export const subjects: readonly Subject[] = [
  {
    name: "contacts.create",
    operation: "contacts.create",
    replay: "never",
    needs: ["id", "email"],
    call: (client, options) => client.contacts.create(person, options),
    effects: ({ contacts }) => contacts.length,
  },
  {
    name: "contacts.list",
    operation: "contacts.list",
    replay: "read",
    needs: ["id", "email"],
    prepare: addPerson,
    call: async (client, options) => client.contacts.list({}, options),
    effects: () => 0,
  },
  {
    name: "contacts.update",
    operation: "contacts.update",
    replay: "repeated",
    mayBeEmpty: true,
    needs: ["id", "email"],
    prepare: addPerson,
    call: (client, options, id) => client.contacts.update(id, { name: "Ada" }, options),
    effects: ({ contacts }) => contacts.filter(({ name }) => name === "Ada").length,
  },
  {
    name: "companies.create with a domain",
    operation: "companies.create",
    needs: ["id"],
    replay: "repeated",
    call: (client, options) =>
      client.companies.create({ companyName: "Acme", domain: "acme.example" }, options),
    effects: ({ companies }) => companies.size,
  },
  {
    name: "companies.create without a domain",
    operation: "companies.create",
    needs: ["id"],
    replay: "never",
    call: (client, options) => client.companies.create({ companyName: "Acme" }, options),
    effects: ({ companies }) => companies.size,
  },
  {
    name: "companies.update",
    operation: "companies.update",
    replay: "repeated",
    mayBeEmpty: true,
    prepare: addCompany,
    call: (client, options, id) => client.companies.update(id, { industry: "Tools" }, options),
    effects: ({ companies }, id) => countOf(companies.get(id)?.industry === "Tools"),
  },
  {
    name: "companies.findByDomain",
    operation: "companies.findByDomain",
    needs: ["id"],
    replay: "read",
    prepare: addCompany,
    call: (client, options) => client.companies.findByDomain("acme.example", options),
    effects: () => 0,
  },
  {
    name: "lists.create",
    operation: "lists.create",
    replay: "never",
    needs: ["id", "name"],
    call: (client, options) => client.lists.create({ name: "Members" }, options),
    effects: ({ lists }) => lists.size,
  },
  {
    name: "lists.addContacts",
    operation: "lists.addContacts",
    replay: "repeated",
    fitsAnything: true,
    mayBeEmpty: true,
    prepare: addList,
    call: (client, options, id) => client.lists.addContacts(id, [person.email], options),
    effects: members,
  },
  {
    name: "lists.removeContacts",
    operation: "lists.removeContacts",
    replay: "repeated",
    fitsAnything: true,
    mayBeEmpty: true,
    prepare: addMember,
    call: (client, options, id) => client.lists.removeContacts(id, [person.email], options),
    effects: (state, id) => 1 - members(state, id),
  },
  {
    name: "events.record",
    operation: "events.record",
    replay: "repeated",
    needs: ["id", "outcome"],
    call: (client, options) => client.events.record({ name: "order.placed", contact: person }, options),
    effects: ({ events }) => events.length,
  },
  {
    name: "events.recordBatch",
    operation: "events.recordBatch",
    replay: "repeated",
    size: 2,
    call: (client, options) =>
      client.events.recordBatch(
        ["order.placed", "order.paid"].map((name) => ({ name, contact: person })),
        options,
      ),
    effects: ({ events }) => events.length,
  },
  {
    name: "emails.send",
    operation: "emails.send",
    replay: "never",
    needs: ["id", "threadId"],
    call: (client, options) => client.emails.send(email, options),
    effects: ({ emails }) => emails.length,
  },
  {
    name: "emails.schedule",
    operation: "emails.schedule",
    replay: "never",
    needs: ["id"],
    call: (client, options) => client.emails.schedule({ ...email, sendAt }, options),
    effects: ({ scheduled }) => scheduled.size,
  },
  {
    name: "emails.scheduled.list",
    operation: "emails.scheduled.list",
    replay: "read",
    needs: ["id", "status"],
    prepare: addScheduled,
    call: async (client, options) => client.emails.scheduled.list({}, options),
    effects: () => 0,
  },
  {
    name: "emails.scheduled.update",
    operation: "emails.scheduled.update",
    replay: "repeated",
    mayBeEmpty: true,
    prepare: addScheduled,
    call: (client, options, id) => client.emails.scheduled.update(id, { subject: "Later" }, options),
    effects: ({ scheduled }, id) => countOf(scheduled.get(id)?.draft.subject === "Later"),
  },
  {
    name: "emails.scheduled.cancel",
    operation: "emails.scheduled.cancel",
    replay: "repeated",
    mayBeEmpty: true,
    hasNoBody: true,
    prepare: addScheduled,
    call: (client, options, id) => client.emails.scheduled.cancel(id, options),
    effects: ({ scheduled }, id) => countOf(scheduled.get(id)?.status === "CANCELLED"),
  },
];
