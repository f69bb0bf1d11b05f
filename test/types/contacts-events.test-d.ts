import {
  type BatchItemResult,
  type BatchReport,
  type Checkpoint,
  type Client,
  type Contact,
  type EventReceipt,
  type ImportReport,
  type IngestReport,
  mockResponse,
  type Page,
  type ResponseInfo,
  type UpsertResult,
  type WalkedPage,
  type WithResponse,
} from "touchpoint-sdk";
import { describe, expectTypeOf, test } from "vitest";

declare const client: Client;
const person = { email: "ada@example.com" };

describe("contacts", () => {
  test("answers are typed, awaited and iterated", async () => {
    expectTypeOf(client.contacts.create(person)).resolves.toEqualTypeOf<Contact>();
    expectTypeOf(client.contacts.find("ada@example.com")).resolves.toEqualTypeOf<Contact | null>();
    expectTypeOf(await client.contacts.list()).toEqualTypeOf<Page<Contact>>();
    const total = client.contacts.list().then(({ total }) => total);
    expectTypeOf(total.catch(() => "none")).toEqualTypeOf<Promise<number | string>>();
    for await (const contact of client.contacts.list()) expectTypeOf(contact).toEqualTypeOf<Contact>();
    const { response } = await client.contacts.update("c1", {}).withResponse();
    expectTypeOf(response).toEqualTypeOf<ResponseInfo>();
  });

  test("known stages complete, others are accepted, and null clears a custom field", () => {
    client.contacts.update("c1", { stage: "REPLIED", customFields: { plan: null } });
    client.contacts.update("c1", { stage: "SOMETHING_NEW" });
  });

  test("null clears notes, and texts that may be absent", () => {
    client.contacts.update("c1", { name: null, title: null, phone: null, linkedIn: null, leadId: null });
    client.contacts.update("c1", { notes: null, customFields: { plan: null } });
    // @ts-expect-error: a contact has a stage
    client.contacts.update("c1", { stage: null });
    // @ts-expect-error: a contact has a source
    client.contacts.update("c1", { source: null });
    // @ts-expect-error: true or false
    client.contacts.update("c1", { verified: null });
    // @ts-expect-error: a number
    client.contacts.update("c1", { emailConfidence: null });
    // @ts-expect-error: a contact has an address
    client.contacts.update("c1", { email: null });
    // @ts-expect-error: no lists are []
    client.contacts.update("c1", { listIds: null });
    // @ts-expect-error: a new contact has nothing to clear
    client.contacts.create({ ...person, name: null });
  });

  test("an upsert takes a contact as it was read", async () => {
    const contact = await client.contacts.find("ada@example.com");
    if (contact !== null) await client.contacts.upsert(contact);
    if (contact !== null) await client.contacts.upsert({ ...contact, name: "Ada", title: null });
    // @ts-expect-error: misspelt
    client.contacts.upsert({ email: "ada@example.com", nmae: "Ada" });
  });

  test("contactFields are a contact patch", () => {
    const event = { name: "signed.up", contact: { email: "ada@example.com" } };
    client.events.record({ ...event, contactFields: { name: "Ada", customFields: { plan: "pro" } } });
    // @ts-expect-error: misspelt
    client.events.record({ ...event, contactFields: { nmae: "Ada" } });
    // @ts-expect-error: a string
    client.events.record({ ...event, contactFields: { name: 1 } });
  });

  test("wrong calls are refused", () => {
    // @ts-expect-error: the email is required
    client.contacts.create({ name: "Ada" });
    // @ts-expect-error: there is no such field
    client.contacts.create({ ...person, nickname: "A" });
    // @ts-expect-error: a list of ids
    client.contacts.update("c1", { listIds: "l1" });
    // @ts-expect-error: the id comes first
    client.contacts.update({ name: "Ada" }, "c1");
    // @ts-expect-error: there is no such consistency
    client.contacts.list({}, { consistency: "loose" });
    // @ts-expect-error: there is no such query
    client.contacts.list({ offset: 5 });
    // @ts-expect-error: there is no such option
    client.contacts.create(person, { retries: 1 });
    // @ts-expect-error the address itself
    client.contacts.find(person);
    // @ts-expect-error of which address?
    client.contacts.find();
    // @ts-expect-error the address is what is known of a contact
    client.contacts.upsert({ name: "Ada" });
    // @ts-expect-error the address goes inside
    client.contacts.upsert("ada@example.com", { name: "Ada" });
  });

  test("an upsert tells whether it created", () => {
    expectTypeOf(client.contacts.upsert(person)).resolves.toEqualTypeOf<UpsertResult>();
  });

  test("a list is walked by page, and taken whole", async () => {
    const list = client.contacts.list({ search: "ada" }, { consistency: "fast", prefetch: 2 });
    expectTypeOf(list.withResponse()).resolves.toEqualTypeOf<WithResponse<Page<Contact>>>();
    for await (const page of list.pages()) expectTypeOf(page).toEqualTypeOf<WalkedPage<Contact>>();
    expectTypeOf(list.toArray({ max: 10 })).resolves.toEqualTypeOf<Contact[]>();
    expectTypeOf(list.catch(() => null)).resolves.toEqualTypeOf<Page<Contact> | null>();
    expectTypeOf(list.finally(() => {})).resolves.toEqualTypeOf<Page<Contact>>();
    // @ts-expect-error nothing to choose
    list.withResponse("headers");
    // @ts-expect-error a page has the query's size
    list.pages({ limit: 5 });
    // @ts-expect-error a number has a name here
    list.toArray(10);
    expectTypeOf(list).toExtend<Promise<Page<Contact>>>();
    expectTypeOf(
      list.then(
        ({ total }) => total,
        (error: Error) => error,
      ),
    ).resolves.toExtend<number | Error>();
    // @ts-expect-error nothing is handed over
    list.finally((page: Page<Contact>) => page);
    // @ts-expect-error pages come later
    [...list].length;
  });

  test("a mocked method answers what the method does", async () => {
    const contact = await client.contacts.create(person);
    const page = { data: [contact], total: 1, skip: 0, limit: 50 };
    client.contacts.list = () => mockResponse(page);
    client.contacts.list = () => mockResponse({ ...page, data: [] });
    client.contacts.find = () => mockResponse(null);
    client.contacts.create = () => mockResponse(contact, { status: 201 });
    client.contacts.upsert = () => mockResponse({ contact, created: true });
    // @ts-expect-error a list answers pages
    client.contacts.list = () => mockResponse([contact]);
    // @ts-expect-error a page has its total
    client.contacts.list = () => mockResponse({ data: [contact] });
    // @ts-expect-error no contact
    client.contacts.create = () => mockResponse(null);
    // @ts-expect-error a status is a number
    mockResponse(null, { status: "200" });
  });

  test("an import reads contacts", () => {
    const store = { load: async () => null, save: async (state: Checkpoint) => void state.done };
    expectTypeOf(client.contacts.import([person])).resolves.toEqualTypeOf<ImportReport>();
    client.contacts.import([{ ...person, name: null as string | null }]);
    client.contacts.import([person], { checkpoint: "import.json", concurrency: 4, addToList: "l1" });
    client.contacts.import([person], { checkpoint: store });
    // @ts-expect-error many contacts
    client.contacts.import(person);
    // @ts-expect-error a contact is no plain address
    client.contacts.import(["ada@example.com"]);
    // @ts-expect-error a path, or a store
    client.contacts.import([person], { checkpoint: 1 });
    // @ts-expect-error a store loads too
    client.contacts.import([person], { checkpoint: { save: store.save } });
    // @ts-expect-error one request is one contact
    client.contacts.import([person], { batchSize: 10 });
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
    // @ts-expect-error for an import
    client.events.ingest([event], { addToList: "l1" });
  });

  test("an ingestion counts what became of the events", () => {
    expectTypeOf(client.events.ingest([event])).resolves.toEqualTypeOf<IngestReport>();
    client.events.ingest([event], { checkpoint: "events.json", batchSize: 10, maxAgeMs: 1 });
  });

  test("a recorder takes events one by one", async () => {
    const recorder = client.events.recorder({ maxBatch: 10, maxDelayMs: 100 });
    expectTypeOf(recorder.record(event)).resolves.toEqualTypeOf<BatchItemResult>();
    expectTypeOf(recorder.pending).toEqualTypeOf<number>();
    expectTypeOf(recorder.flush()).resolves.toEqualTypeOf<void>();
    expectTypeOf(recorder.close()).resolves.toEqualTypeOf<void>();
    await using scoped = client.events.recorder();
    expectTypeOf(scoped[Symbol.asyncDispose]()).resolves.toEqualTypeOf<void>();
    // @ts-expect-error no such option
    client.events.recorder({ batchSize: 10 });
    // @ts-expect-error one by one
    recorder.record([event]);
    // @ts-expect-error events wait on their own
    recorder.pending = 0;
    // @ts-expect-error all of them
    recorder.flush(10);
    // @ts-expect-error it always waits
    recorder.close({ force: true });
    // @ts-expect-error closing takes time
    using hasty = client.events.recorder();
    hasty.pending;
  });
});
