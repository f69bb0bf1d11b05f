import { describe, expect, test } from "vitest";
import type { ContactInput } from "../../src/service/contacts.ts";
import { samples } from "./samples.ts";
import { answering, service } from "./service.ts";

const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a contact", () => {
  const { id: _id, externalId, createdAt: _createdAt, updatedAt: _updatedAt, ...writable } = samples.contact;

  test.each(Object.keys(writable) as (keyof typeof writable)[])("carries %s as it was set", async (field) => {
    const { client } = service();
    const { id: leadId = "" } = await client.companies.create({ companyName: "Engines" });
    const { id: listId } = await client.lists.create({ name: "News" });
    const values = { ...writable, customFields: { ...writable.customFields }, leadId, listIds: [listId] };
    const input: ContactInput = { email: values.email, [field]: values[field] };
    const created = await client.contacts.create(input);
    const [listed] = (await client.contacts.list({ search: values.email })).data;
    expect([created[field], listed?.[field]]).toEqual([values[field], values[field]]);
  });

  test("has an id and times in UTC from the service", async () => {
    const { client } = service();
    const { id, createdAt, updatedAt } = await client.contacts.create({ email: "ada@example.com" });
    expect([typeof id, createdAt, updatedAt]).toEqual([
      "string",
      expect.stringMatching(utc),
      expect.stringMatching(utc),
    ]);
  });

  test("carries an externalId once an event has supplied it, which then identifies the person", async () => {
    const { client } = service();
    await client.events.record({ name: "x", contact: { email: "ada@example.com", externalId } });
    const contact = await client.contacts.find("ada@example.com");
    expect(contact?.externalId).toBe(externalId);
    const { contactId } = await client.events.record({ name: "y", contact: { externalId } });
    expect(contactId).toBe(contact?.id);
  });

  test("takes another stage through an update", async () => {
    const { client } = service();
    const { id } = await client.contacts.create({ email: "ada@example.com" });
    expect((await client.contacts.update(id, { stage: "CONVERTED" })).stage).toBe("CONVERTED");
  });
});

describe("a company", () => {
  test("is created with its people, who carry leadId", async () => {
    const { client, sandbox } = service();
    const { companyName, domain, industry, contacts } = samples.company;
    const { id } = await client.companies.create({ companyName, domain, industry, contacts: [...contacts] });
    expect(await client.companies.findByDomain(domain)).toMatchObject({ id, companyName, domain, industry });
    expect(sandbox.state.contacts).toMatchObject([{ ...contacts[0], leadId: id }]);
  });
});

describe("an event", () => {
  const { occurredAt: _long, ...event } = samples.event;

  test("is recorded with each of its request fields", async () => {
    const { client, sandbox } = service();
    const occurredAt = new Date("2026-03-01T11:00:00Z");
    await client.events.record({ ...event, occurredAt, createContact: true });
    expect(sandbox.state.events).toMatchObject([
      {
        callerId: event.id,
        name: event.name,
        properties: event.properties,
        occurredAt: occurredAt.toISOString(),
      },
    ]);
    expect(sandbox.state.contacts).toMatchObject([{ ...event.contact, ...event.contactFields }]);
  });

  test("finds its person by contact id too", async () => {
    const { client, sandbox } = service();
    const { id } = sandbox.addContact({ email: "ada@example.com" });
    expect(await client.events.record({ name: "x", contact: { id } })).toMatchObject({ contactId: id });
  });

  test.each(Object.entries(samples.receipt))("'s receipt has %s", async (field, value) => {
    const { client } = answering(202, samples.receipt);
    expect(await client.events.record(event)).toHaveProperty(field, value);
  });

  test("that starts nothing says why in its note", async () => {
    const { client } = service({ automations: [{ name: "welcome", startsOn: "x", exitsOn: "y" }] });
    const contact = { email: "ada@example.com" };
    expect(await client.events.record({ name: "x", contact })).toMatchObject({ runsStarted: 1, note: null });
    expect(await client.events.record({ name: "x", contact })).toMatchObject({
      runsStarted: 0,
      note: "The person is already in a run of welcome.",
    });
  });
});

describe("an email", () => {
  const { html: _html, ...common } = samples.email;

  test.each(Object.entries(samples.sentEmail))("'s receipt has %s", async (field, value) => {
    const { client } = answering(200, samples.sentEmail);
    expect(await client.emails.send({ ...common, text: "x" })).toHaveProperty(field, value);
  });

  test("is sent with a plain-text version of its HTML, and is in the recipient's history", async () => {
    const { client, sandbox } = service();
    const { contactId } = await client.emails.send({ ...common, html: "<p>Hello <b>Ada</b></p>" });
    expect(sandbox.state.emails).toMatchObject([{ contactId, text: "Hello Ada" }]);
  });

  test("is tracked where the workspace has a tracking domain", async () => {
    const tracked = async (tracking: boolean) =>
      (await service({ tracking }).client.emails.send({ ...common, text: "x" })).tracked;
    expect([await tracked(true), await tracked(false)]).toEqual([true, false]);
  });

  test("for later has an id, the status SCHEDULED and its time on top", async () => {
    const { client } = service();
    const sendAt = "2026-03-01T15:00:00+02:00";
    expect(await client.emails.schedule({ ...common, text: "x", sendAt })).toMatchObject({
      id: expect.any(String),
      status: "SCHEDULED",
      sendAt: "2026-03-01T13:00:00.000Z",
    });
  });
});
