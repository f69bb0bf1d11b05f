import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  Client,
  type Contact,
  type ContactInput,
  type ContactPatch,
  type DroppedEvent,
  type EventInput,
  type RejectedContact,
  type RejectedEvent,
} from "../../src/index.ts";

interface Fields {
  plan: string;
  seats?: number;
}
interface Placed {
  total: number;
}

declare const fields: Fields;
declare const placed: Placed;
const contact = { email: "ada@example.com" };

test("a value of an interface goes wherever free fields do", () => {
  const client = new Client();
  client.contacts.create({ ...contact, customFields: fields });
  client.contacts.update("id", { customFields: fields });
  client.contacts.upsert({ ...contact, customFields: fields });
  client.contacts.import([{ ...contact, customFields: fields }]);
  client.events.record({ name: "a", contact, properties: placed, contactFields: { customFields: fields } });
  client.events.recordBatch([{ name: "a", contact, properties: placed }]);
  client.events.ingest([{ name: "a", contact, properties: placed }]);
  client.events.recorder().record({ name: "a", contact, properties: placed });
  expectTypeOf<{ email: string; customFields: Fields }>().toExtend<ContactInput>();
  expectTypeOf<{ customFields: Fields }>().toExtend<ContactPatch>();
  expectTypeOf<{ name: string; contact: { id: string }; properties: Placed }>().toExtend<EventInput>();
});

test("records, literals, nulls and classes are free fields; what JSON would lose is not", () => {
  const { contacts } = new Client();
  const record: Record<string, unknown> = {};
  class Plan {
    plan = "pro";
  }
  contacts.create({ ...contact, customFields: record });
  contacts.create({ ...contact, customFields: new Plan() });
  contacts.update("id", { customFields: { plan: null } });
  // @ts-expect-error a list has no names
  contacts.create({ ...contact, customFields: ["pro"] });
  // @ts-expect-error a moment has no names
  contacts.create({ ...contact, customFields: new Date() });
  // @ts-expect-error JSON would lose it
  contacts.create({ ...contact, customFields: new Map() });
  // @ts-expect-error JSON would lose it
  contacts.create({ ...contact, customFields: () => "pro" });
  // @ts-expect-error no custom fields are left out, or {}
  contacts.create({ ...contact, customFields: null });
});

test("what the service refuses is refused of an interface too", () => {
  const { events } = new Client();
  interface Secret {
    password: string;
  }
  const secret: Secret = { password: "x" };
  // @ts-expect-error refused by the service
  events.record({ name: "a", contact, properties: secret });
});

test("callbacks read free fields by name", () => {
  const client = new Client();
  client.events.ingest([{ name: "a", contact, properties: placed }], {
    idFrom: ({ properties }) => String(properties?.orderId),
    onRejected: ({ event }) =>
      void expectTypeOf(event.contactFields?.name).toEqualTypeOf<string | null | undefined>(),
  });
  client.contacts.import([contact], {
    onRejected: ({ contact: row }) => void expectTypeOf(row.customFields?.plan).toEqualTypeOf<unknown>(),
  });
  expectTypeOf<NonNullable<RejectedEvent["event"]["properties"]>["a"]>().toEqualTypeOf<unknown>();
  expectTypeOf<NonNullable<DroppedEvent["event"]["properties"]>["a"]>().toEqualTypeOf<unknown>();
  expectTypeOf<RejectedEvent["event"]>().toExtend<EventInput>();
  expectTypeOf<RejectedContact["contact"]>().toExtend<ContactInput>();
});

test("interfaces type a client, given by hand or by schemas", async () => {
  interface Types {
    "order.placed": Placed;
  }
  const byHand = new Client<Fields, Types>();
  const schema: z.ZodType<Fields, Fields> = z.object({
    plan: z.string(),
    seats: z.exactOptional(z.number()),
  });
  const bySchema = new Client({
    customFields: schema,
    events: { "order.placed": z.object({ total: z.number() }) },
  });
  for (const client of [byHand, bySchema]) {
    expectTypeOf((await client.contacts.find("a@b"))?.customFields?.plan).toEqualTypeOf<
      string | null | undefined
    >();
  }
  byHand.contacts.create({ ...contact, customFields: fields });
  bySchema.contacts.create({ ...contact, customFields: fields });
  byHand.events.record({ name: "order.placed", contact, properties: placed });
  bySchema.events.record({ name: "order.placed", contact, properties: placed });
  byHand.contacts.update("id", { customFields: { seats: null } });
  // @ts-expect-error a number
  byHand.contacts.update("id", { customFields: { seats: "2" } });
  // @ts-expect-error no such event
  byHand.events.record({ name: "order.plced", contact, properties: placed });
});

test("a function takes any client, or any that has the fields it needs", () => {
  const emailOf = async <F extends object, E extends object>(client: Client<F, E>): Promise<string> => {
    const found = await client.contacts.find("ada@example.com");
    for await (const each of client.contacts.list()) expectTypeOf(each.id).toEqualTypeOf<string>();
    return found?.email ?? "";
  };
  const upsert = <E extends object>(client: Client<Fields, E>) =>
    client.contacts.upsert({ ...contact, customFields: fields });
  const open = (client: Client) => client.contacts.create({ ...contact, customFields: { anything: 1 } });
  emailOf(new Client());
  emailOf(new Client<Fields>());
  emailOf(new Client<Fields, { a: Placed }>());
  upsert(new Client<Fields>());
  upsert(new Client<Fields, { a: Placed }>());
  open(new Client<Fields>());
  expectTypeOf(open).returns.resolves.toEqualTypeOf<Contact>();
});
