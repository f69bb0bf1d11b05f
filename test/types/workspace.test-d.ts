import { type } from "arktype";
import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import { Client, type Contact, type ContactInput, type EventInput } from "../../src/index.ts";

const contact = { email: "ada@example.com" };
const makeClient = () =>
  new Client({
    customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
    events: {
      "order.placed": z.object({ total: z.number() }),
      "signed.up": z.object({ via: z.optional(z.string()) }),
      viewed: z.looseObject({ page: z.string() }),
    },
  });

test("zod, valibot and arktype give the same client", () => {
  type Expected = Client<
    { plan: "free" | "pro"; seats?: number | undefined },
    { "order.placed": { total: number } }
  >;
  const ofZod = new Client({
    customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
    events: { "order.placed": z.object({ total: z.number() }) },
  });
  const ofValibot = new Client({
    customFields: v.object({ plan: v.picklist(["free", "pro"]), seats: v.optional(v.number()) }),
    events: { "order.placed": v.object({ total: v.number() }) },
  });
  const ofArktype = new Client({
    customFields: type({ plan: "'free' | 'pro'", "seats?": "number | undefined" }),
    events: { "order.placed": type({ total: "number" }) },
  });
  expectTypeOf(ofZod).toEqualTypeOf<Expected>();
  expectTypeOf(ofValibot).toEqualTypeOf<Expected>();
  expectTypeOf(ofArktype).toEqualTypeOf<Expected>();
});

test("custom fields go in as the schema says", () => {
  const { contacts } = makeClient();
  contacts.create({ ...contact, customFields: { plan: "pro", seats: 3 } });
  contacts.upsert({ ...contact, customFields: { plan: "free" } });
  contacts.import([{ ...contact, customFields: { plan: "free" } }]);
  contacts.create(contact);
  // @ts-expect-error no such plan
  contacts.create({ ...contact, customFields: { plan: "gold" } });
  // @ts-expect-error plan is missing
  contacts.create({ ...contact, customFields: { seats: 3 } });
  contacts.upsert({ ...contact, customFields: { seats: 3 } });
  // @ts-expect-error no such plan
  contacts.upsert({ ...contact, customFields: { plan: "gold" } });
  // @ts-expect-error no such field
  contacts.create({ ...contact, customFields: { plan: "pro", seat: 3 } });
  // @ts-expect-error only an update clears
  contacts.create({ ...contact, customFields: { plan: null } });
  // @ts-expect-error no such plan
  contacts.import([{ ...contact, customFields: { plan: "gold" } }]);
});

test("an update takes some of the fields, and null to clear one", () => {
  const { contacts } = makeClient();
  contacts.update("id", { customFields: { plan: null } });
  contacts.update("id", { customFields: { seats: 2 } });
  // @ts-expect-error a number
  contacts.update("id", { customFields: { seats: "2" } });
  // @ts-expect-error no such field, not even to clear it
  contacts.update("id", { customFields: { seat: null } });
});

test("custom fields come out as the schema says, each perhaps missing or cleared", async () => {
  const { contacts } = makeClient();
  type Plan = "free" | "pro" | null | undefined;
  const created = await contacts.create(contact);
  expectTypeOf(created).toExtend<Contact>();
  expectTypeOf(created.customFields?.plan).toEqualTypeOf<Plan>();
  expectTypeOf((await contacts.update("id", {})).customFields?.plan).toEqualTypeOf<Plan>();
  expectTypeOf((await contacts.find("a@b"))?.customFields?.plan).toEqualTypeOf<Plan>();
  expectTypeOf((await contacts.upsert(contact)).contact.customFields?.plan).toEqualTypeOf<Plan>();
  expectTypeOf((await contacts.list()).data[0]?.customFields?.plan).toEqualTypeOf<Plan>();
  for await (const listed of contacts.list()) expectTypeOf(listed.customFields?.plan).toEqualTypeOf<Plan>();
});

test("events have the names and properties of their schemas", () => {
  const { events } = makeClient();
  const recorder = events.recorder();
  const placed = { name: "order.placed", contact, properties: { total: 9 } } as const;
  events.record(placed);
  events.recordBatch([placed, placed]);
  events.ingest([placed]);
  recorder.record(placed);
  // @ts-expect-error no such event
  events.record({ name: "order.plced", contact, properties: { total: 9 } });
  // @ts-expect-error a number
  events.record({ name: "order.placed", contact, properties: { total: "9" } });
  // @ts-expect-error properties are missing
  events.record({ name: "order.placed", contact });
  // @ts-expect-error a number
  events.recordBatch([placed, { name: "order.placed", contact, properties: { total: "9" } }]);
  // @ts-expect-error no such event
  events.ingest([{ name: "order.plced", contact, properties: { total: 9 } }]);
  // @ts-expect-error no such event
  recorder.record({ name: "order.plced", contact, properties: { total: 9 } });
  // @ts-expect-error refused by the service
  events.record({ name: "order.placed", contact, properties: { total: 9, password: "x" } });
  // @ts-expect-error any string is too wide
  events.record({ name: String("order.placed"), contact, properties: { total: 9 } });
});

test("contactFields have the custom fields of the workspace", () => {
  const { events } = makeClient();
  const placed = { name: "order.placed", contact, properties: { total: 9 } } as const;
  events.record({ ...placed, contactFields: { name: "Ada", customFields: { plan: "pro" } } });
  // @ts-expect-error no such plan
  events.record({ ...placed, contactFields: { customFields: { plan: "gold" } } });
  // @ts-expect-error no such plan
  events.recordBatch([{ ...placed, contactFields: { customFields: { plan: "gold" } } }]);
  // @ts-expect-error no such plan
  events.ingest([{ ...placed, contactFields: { customFields: { plan: "gold" } } }]);
});

test("one batch mixes events, each with its own properties", () => {
  const { events } = makeClient();
  events.record({ name: "signed.up", contact });
  events.recordBatch([
    { name: "order.placed", contact, properties: { total: 9 } },
    { name: "signed.up", contact },
  ]);
  events.recordBatch([
    { name: "order.placed", contact, properties: { total: 9 } },
    // @ts-expect-error the other event's property
    { name: "signed.up", contact, properties: { total: 9 } },
  ]);
  events.record({ name: "viewed", contact, properties: { page: "/", more: 1 } });
  // @ts-expect-error refused by the service, although the schema is loose
  events.record({ name: "viewed", contact, properties: { page: "/", password: "x" } });
  events.ingest([{ name: "order.placed", contact, properties: { total: 9 } } as const], {
    idFrom: (event) => {
      expectTypeOf(event.properties.total).toEqualTypeOf<number>();
      return "";
    },
  });
});

test("without schemas everything is open but what the service refuses", () => {
  const client = new Client();
  const name: string = "anything";
  const properties: Record<string, unknown> = {};
  client.contacts.create({ ...contact, customFields: { anything: 1, cleared: null } });
  client.events.record({ name, contact, properties });
  client.events.recordBatch([
    { name: "a", contact },
    { name: "b", contact, properties: { c: 1 } },
  ]);
  client.events.record({} as EventInput);
  client.events.recordBatch([] as EventInput[]);
  client.events.ingest([] as EventInput[]);
  client.contacts.import([] as ContactInput[]);
  // @ts-expect-error reserved
  client.events.record({ name: "service.email.sent", contact });
  client.events.recordBatch([
    { name: "a", contact },
    // @ts-expect-error reserved
    { name: "service.b", contact },
  ]);
  // @ts-expect-error reserved
  client.events.ingest([{ name: "service.b", contact }]);
  // @ts-expect-error reserved
  client.events.recorder().record({ name: "service.b", contact });
  // @ts-expect-error refused
  client.events.record({ name: "a", contact, properties: { password: "x" } });
  // @ts-expect-error refused
  client.events.record({ name: "a", contact, properties: { card_number: "x" } });
  // @ts-expect-error refused
  client.events.record({ name: "a", contact, properties: { ssn: "x" } });
  expectTypeOf(client.contacts.create).parameter(0).toEqualTypeOf<ContactInput>();
  expectTypeOf(client.contacts.find).returns.resolves.toEqualTypeOf<Contact | null>();
});

test("schemas that cannot work are refused", () => {
  // @ts-expect-error reserved
  new Client({ events: { "service.sent": z.object({}) } });
  // @ts-expect-error no object
  new Client({ customFields: z.string() });
  // @ts-expect-error no schema
  new Client({ customFields: { plan: "string" } });
});

test("a client with custom fields serves where any client does; one with events has names of its own", () => {
  const anyClient = (client: Client) => client;
  const whatever = <F extends object, E extends object>(client: Client<F, E>) => client;
  anyClient(new Client({ customFields: z.object({ plan: z.string() }) }));
  expectTypeOf(whatever(makeClient())).toEqualTypeOf(makeClient());
  // @ts-expect-error it refuses other names
  anyClient(makeClient());
});

test("a sibling keeps the types, or takes those of its own schemas", () => {
  const client = makeClient();
  expectTypeOf(client.withOptions({ timeoutMs: 1 })).toEqualTypeOf(client);
  const other = client.withOptions({ customFields: z.object({ tier: z.number() }) });
  other.contacts.update("id", { customFields: { tier: 1 } });
  other.events.record({ name: "signed.up", contact });
  // @ts-expect-error the field of the other client
  other.contacts.update("id", { customFields: { plan: "pro" } });
});
