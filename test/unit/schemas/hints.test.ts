import { expect, test } from "vitest";
import { served } from "../resources/served.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;
const contact = { email: "ada@example.com" };

test("a misspelt field that is required is named beside the one that is missing", async () => {
  const { client, requests } = served([]);
  await expect(client.contacts.create(loose({ emial: "ada@example.com" }))).rejects.toThrow(
    'contacts.create: email: must be an email address (a string); it is missing, is "emial" meant?',
  );
  await expect(client.emails.send(loose({ to: "a@b.c", Subject: "Hi", text: "x" }))).rejects.toThrow(
    'emails.send: subject: must be a string; it is missing, is "Subject" meant?',
  );
  await expect(client.contacts.create(loose({ name: "Ada" }))).rejects.toThrow(
    /email: must be an email address \(a string\)$/,
  );
  expect(requests).toEqual([]);
});

test.each([["ada@example.com"], [null], [undefined], [[]], [{}], [{ email: undefined }]])(
  "%j for the person of an event says what to give",
  async (person) => {
    const { client, requests } = served([]);
    await expect(client.events.record(loose({ name: "x", contact: person }))).rejects.toThrow(
      "events.record: contact: give { email }, { externalId } or { id }",
    );
    expect(requests).toEqual([]);
  },
);

test.each([
  ["occuredAt", "occurredAt"],
  ["occurred_at", "occurredAt"],
  ["propertise", "properties"],
  ["createContacts", "createContact"],
  ["contactfields", "contactFields"],
])("an event's %s is refused: the service would pass over it", async (name, meant) => {
  const { client, requests } = served([]);
  await expect(client.events.record(loose({ name: "x", contact, [name]: {} }))).rejects.toThrow(
    `events.record: ${name}: is no field, is "${meant}" meant?`,
  );
  expect(requests).toEqual([]);
});

test("a field of an event that resembles none, or stands beside the one it resembles, goes out", async () => {
  const { client, requests } = served([[202, { id: "1" }]]);
  const event = {
    id: "1",
    name: "x",
    contact,
    tags: ["a"],
    title: "x",
    property: 1,
    createdContact: 1,
    createContact: true,
  };
  await client.events.record(loose(event));
  expect(requests[0]?.body).toEqual(event);
});

test.each([["x"], [null], [[]], [undefined]])(
  "%j in place of an input says that an object is wanted",
  async (input) => {
    const { client } = served([]);
    await expect(client.contacts.create(loose(input))).rejects.toThrow("contacts.create: must be an object");
    await expect(client.companies.update("co-1", loose(input))).rejects.toThrow(
      "companies.update: must be an object",
    );
  },
);
