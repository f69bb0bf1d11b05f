import { expect, test } from "vitest";
import { served } from "../resources/served.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;
const contact = { email: "ada@example.com" };

const no = (field: string, meant: string) => `${field}: there is no such field (did you mean "${meant}"?)`;

test("a misspelt field that is required is named beside the one that is missing", async () => {
  const { client, requests } = served([]);
  await expect(client.contacts.create(loose({ Email: "ada@example.com" }))).rejects.toThrow(
    `contacts.create: email: must be an email address (a string); ${no("Email", "email")}`,
  );
  await expect(client.emails.send(loose({ to: "a@b.c", Subject: "Hi", text: "x" }))).rejects.toThrow(
    `emails.send: subject: must be a string; ${no("Subject", "subject")}`,
  );
  await expect(client.contacts.create(loose({ name: "Ada" }))).rejects.toThrow(
    /email: must be an email address \(a string\)$/,
  );
  expect(requests).toEqual([]);
});

const email = { to: "ada@example.com", subject: "Hi", text: "x" };

test.each([
  ["sendat", "sendAt"],
  ["send_at", "sendAt"],
  ["Force", "force"],
  ["signatureid", "signatureId"],
  ["signature_id", "signatureId"],
  ["send-at", "sendAt"],
])("an email's %s is refused: it would go out at once, or to nobody", async (name, meant) => {
  const { client, requests } = served([]);
  await expect(client.emails.send(loose({ ...email, [name]: "2030-01-01T00:00:00Z" }))).rejects.toMatchObject(
    {
      name: "ValidationError",
      message: `emails.send: ${no(name, meant)}`,
      issues: [{ path: name, message: `there is no such field (did you mean "${meant}"?)` }],
    },
  );
  expect(requests).toEqual([]);
});

test.each([
  ["NAME", "name"],
  ["Phone", "phone"],
  ["linkedin", "linkedIn"],
  ["linked_in", "linkedIn"],
  ["linked-in", "linkedIn"],
  ["customfields", "customFields"],
  ["listids", "listIds"],
  ["list_ids", "listIds"],
])("a contact's %s is refused", async (name, meant) => {
  const { client, requests } = served([]);
  const { create, update, upsert } = client.contacts;
  for (const call of [
    create.bind(client.contacts, loose({ ...contact, [name]: 1 })),
    update.bind(client.contacts, "1", loose({ [name]: 1 })),
    upsert.bind(client.contacts, loose({ ...contact, [name]: 1 })),
  ])
    await expect(Promise.resolve(call())).rejects.toThrow(no(name, meant));
  expect(requests).toEqual([]);
});

test("a misspelt search is refused: it would list everybody", async () => {
  const { client, requests } = served([]);
  const serach = loose({ Search: "ada" });
  await expect(Promise.resolve(client.contacts.list(serach))).rejects.toThrow(no("Search", "search"));
  await expect(client.contacts.list(serach).toArray()).rejects.toThrow(no("Search", "search"));
  // The limit of each request is no reason to pass over the one that was meant.
  await expect(client.contacts.list(loose({ LIMIT: 5 })).toArray()).rejects.toThrow(no("LIMIT", "limit"));
  expect(requests).toEqual([]);
});

test("every misspelt field of a company, its people and an event is reported, with its place", async () => {
  const { client, requests } = served([]);
  await expect(client.companies.create(loose({ company_name: "Acme" }))).rejects.toThrow(
    `companies.create: ${no("company_name", "companyName")}`,
  );
  const people = [{ email: "a@example.com" }, { email: "b@example.com", Title: "CTO", Name: "B" }];
  await expect(client.companies.create(loose({ domain: "acme.com", contacts: people }))).rejects.toThrow(
    `companies.create: ${no("contacts[1].Title", "title")}; ${no("contacts[1].Name", "name")}`,
  );
  const event = { name: "x", contact: { externalID: "7", id: "1" }, Properties: {} };
  await expect(client.events.record(loose(event))).rejects.toThrow(
    `events.record: ${no("contact.externalID", "externalId")}; ${no("Properties", "properties")}`,
  );
  await expect(client.events.recordBatch([loose(event)])).rejects.toThrow(
    no("events[0].contact.externalID", "externalId"),
  );
  await expect(client.lists.create(loose({ Name: "x" }))).rejects.toThrow(no("Name", "name"));
  await expect(client.emails.scheduled.update("1", loose({ sendat: "x" }))).rejects.toThrow(
    no("sendat", "sendAt"),
  );
  expect(requests).toEqual([]);
});

test("a misspelt column is reported for each row of an import and an ingestion", async () => {
  // An import reads the list first.
  const { client, requests } = served([[200, { data: [], total: 0 }]]);
  const errors: string[] = [];
  const onRejected = ({ error }: { readonly error: string }) => void errors.push(error);
  await client.contacts.import([loose({ ...contact, Linked_In: "x" })], { onRejected });
  await client.events.ingest([loose({ name: "x", contact, ID: "1" })], { onRejected });
  expect(errors).toEqual([no("Linked_In", "linkedIn"), no("ID", "id")]);
  expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
});

test("names within customFields and properties are the workspace's own", async () => {
  const { client, requests } = served([
    [201, { id: "1", email: "ada@example.com" }],
    [202, { id: "1" }],
  ]);
  const customFields = { nmae: "x", Email: "x", linkedin: "x", externalID: "x" };
  await client.contacts.create({ ...contact, customFields });
  await client.events.record({ name: "x", contact, properties: customFields });
  expect(requests.map(({ body }) => body)).toMatchObject([{ customFields }, { properties: customFields }]);
});

test.each([
  [{ ...contact, emails: ["x"], mail: "x", names: "x", name: "Ada" }],
  [{ ...contact, state: "CA", tag: "a", type: "b", url: "c", ids: ["d"], createdAt: "e", sendat: "f" }],
  [{ ...contact, nmae: "x", names: "x", note: "x", listId: "x", "linked in": "x" }],
  [{ ...contact, Name: undefined }],
])("%j goes out: nothing in it is a misspelling of a field that is missing", async (given) => {
  const { client, requests } = served([[201, { id: "1", email: "ada@example.com" }]]);
  await client.contacts.create(loose(given));
  expect(requests[0]?.body).toEqual(JSON.parse(JSON.stringify(given)));
});

test.each([["ada@example.com"], [null], [undefined], [[]], [{}], [{ email: undefined }]])(
  "%j for the person of an event says what to give",
  async (person) => {
    const { client, requests } = served([]);
    await expect(client.events.record(loose({ name: "x", contact: person }))).rejects.toThrow(
      "events.record: contact: pass { email }, { externalId } or { id }",
    );
    expect(requests).toEqual([]);
  },
);

test.each([
  ["occurred-at", "occurredAt"],
  ["occurred_at", "occurredAt"],
  ["PROPERTIES", "properties"],
  ["createcontact", "createContact"],
  ["contactfields", "contactFields"],
])("an event's %s is refused: the service would pass over it", async (name, meant) => {
  const { client, requests } = served([]);
  await expect(client.events.record(loose({ name: "x", contact, [name]: {} }))).rejects.toThrow(
    `events.record: ${no(name, meant)}`,
  );
  expect(requests).toEqual([]);
});

test("a field of an event that resembles none, or stands beside the one it resembles, is sent", async () => {
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
