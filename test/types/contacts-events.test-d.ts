import type { BatchReport, Client, Contact, EventReceipt, Page, ResponseInfo } from "touchpoint-sdk";
import { describe, expectTypeOf, test } from "vitest";

declare const client: Client;
const person = { email: "ada@example.com" };

describe("contacts", () => {
  test("answers are typed, awaited and iterated", async () => {
    expectTypeOf(client.contacts.create(person)).resolves.toEqualTypeOf<Contact>();
    expectTypeOf(client.contacts.find("ada@example.com")).resolves.toEqualTypeOf<Contact | null>();
    expectTypeOf(await client.contacts.list()).toEqualTypeOf<Page<Contact>>();
    for await (const contact of client.contacts.list()) expectTypeOf(contact).toEqualTypeOf<Contact>();
    const { response } = await client.contacts.update("c1", {}).withResponse();
    expectTypeOf(response).toEqualTypeOf<ResponseInfo>();
  });

  test("known stages complete, others are accepted, and null clears a custom field", () => {
    client.contacts.update("c1", { stage: "REPLIED", customFields: { plan: null } });
    client.contacts.update("c1", { stage: "SOMETHING_NEW" });
  });

  test("null clears any single field but the address", () => {
    client.contacts.update("c1", { name: null, phone: null, stage: null, verified: null, leadId: null });
    // @ts-expect-error: a contact has an address
    client.contacts.update("c1", { email: null });
    // @ts-expect-error: no lists are []
    client.contacts.update("c1", { listIds: null });
    // @ts-expect-error: a new contact has nothing to clear
    client.contacts.create({ ...person, name: null });
  });

  test("wrong calls are refused", () => {
    // @ts-expect-error: the email is required
    client.contacts.create({ name: "Ada" });
    // @ts-expect-error: there is no such field
    client.contacts.create({ ...person, nickname: "A" });
    // @ts-expect-error: a list of ids
    client.contacts.update("c1", { listIds: "l1" });
    // @ts-expect-error: the id comes first
    client.contacts.update({ name: "Ada" });
    // @ts-expect-error: there is no such consistency
    client.contacts.list({}, { consistency: "loose" });
    // @ts-expect-error: there is no such query
    client.contacts.list({ offset: 5 });
    // @ts-expect-error: there is no such option
    client.contacts.create(person, { retries: 1 });
  });
});

describe("events", () => {
  const event = { name: "order.placed", contact: person };

  test("answers are typed", () => {
    expectTypeOf(client.events.record(event)).resolves.toEqualTypeOf<EventReceipt>();
    expectTypeOf(client.events.recordBatch([event])).resolves.toEqualTypeOf<BatchReport>();
  });

  test("times go in as Date or text", () => {
    client.events.record({ ...event, occurredAt: new Date() });
    client.events.record({ ...event, occurredAt: "2026-01-31T09:00:00Z" });
  });

  test("wrong calls are refused", () => {
    // @ts-expect-error: a person is required
    client.events.record({ name: "order.placed" });
    // @ts-expect-error: nobody
    client.events.record({ name: "order.placed", contact: {} });
    client.events.record({ name: "order.placed", contact: { id: "c1", email: person.email } });
    // @ts-expect-error: a time is no number
    client.events.record({ ...event, occurredAt: 1_700_000_000 });
    // @ts-expect-error: a person is no plain address
    client.events.record({ name: "order.placed", contact: "ada@example.com" });
    // @ts-expect-error: an array
    client.events.recordBatch(event);
    // @ts-expect-error: events only
    client.events.ingest([{ title: "x" }]);
    // @ts-expect-error: a number
    client.events.ingest([event], { batchSize: "10" });
  });
});
