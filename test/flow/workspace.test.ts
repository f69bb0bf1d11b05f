import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Client, type ClientOptions, type ValidationNotice } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const libraries = [
  {
    library: "zod",
    customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
    events: { "order.placed": z.object({ total: z.number() }), "signed.up": z.object({}) },
  },
  {
    library: "valibot",
    customFields: v.object({ plan: v.picklist(["free", "pro"]), seats: v.optional(v.number()) }),
    events: { "order.placed": v.object({ total: v.number() }), "signed.up": v.object({}) },
  },
  {
    library: "arktype",
    customFields: type({ plan: "'free' | 'pro'", "seats?": "number" }),
    events: { "order.placed": type({ total: "number" }), "signed.up": type({}) },
  },
];

// A client typed like every other one, so that what a literal would be refused for reaches the check.
const open = (schemas: ClientOptions<object, object>) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const { fetch } = sandbox;
  const options = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, ...schemas } as const;
  return { sandbox, client: new Client(options as ClientOptions) };
};

const contact = { email: "ada@example.com" };
const refusal = (...paths: string[]) => ({
  name: "ValidationError",
  outcome: "not-applied",
  issues: paths.map((path) => ({ path, message: expect.any(String) })),
});

describe.each(libraries)("with schemas of $library", ({ customFields, events }) => {
  const service = () => open({ customFields, events });

  test("a new contact fits as a whole, or nothing is sent", async () => {
    const { sandbox, client } = service();
    const create = (fields: Record<string, unknown>) =>
      client.contacts.create({ ...contact, customFields: fields });
    await expect(create({ plan: "gold" })).rejects.toMatchObject(refusal("customFields.plan"));
    await expect(create({ seats: 3 })).rejects.toMatchObject(refusal("customFields.plan"));
    await expect(create({ plan: null })).rejects.toMatchObject(refusal("customFields.plan"));
    expect(sandbox.state.requests).toEqual([]);
    await create({ plan: "pro", seats: undefined });
    expect(sandbox.state.contacts).toMatchObject([{ customFields: { plan: "pro" } }]);
  });

  test("an update is checked key by key, and null clears one", async () => {
    const { sandbox, client } = service();
    const { id } = await client.contacts.create({ ...contact, customFields: { plan: "pro", seats: 3 } });
    const update = (fields: Record<string, unknown>) => client.contacts.update(id, { customFields: fields });
    await update({ seats: 4 });
    await update({ plan: null });
    expect(sandbox.state.contacts[0]?.customFields).toEqual({ seats: 4 });
    await expect(update({ seats: "4", plan: null })).rejects.toMatchObject(refusal("customFields.seats"));
    expect(sandbox.state.requests).toHaveLength(3);
  });

  test("an upsert and each row of an import are checked", async () => {
    const { sandbox, client } = service();
    const wrong = { ...contact, customFields: { plan: "gold" } };
    await expect(client.contacts.upsert(wrong)).rejects.toMatchObject(refusal("customFields.plan"));
    expect(sandbox.state.requests).toEqual([]);
    const rejected: string[] = [];
    const report = await client.contacts.import([wrong, { email: "grace@example.com" }], {
      onRejected: ({ index, error }) => void rejected.push(`${index} ${error.split(":")[0]}`),
    });
    expect([report.created, rejected]).toEqual([1, ["0 customFields.plan"]]);
  });

  test("an import checks a row of a known contact as an update, and any other row as a new contact", async () => {
    const { sandbox, client } = service();
    await client.contacts.create({ ...contact, customFields: { plan: "pro", seats: 3 } });
    // As a file of another program may have them.
    const rows = [
      { ...contact, customFields: { seats: 4, plan: null } },
      { email: "grace@example.com", customFields: { seats: 1 } },
    ] as never[];
    const rejected: object[] = [];
    const onRejected = ({ index, error }: { index: number; error: string }) =>
      void rejected.push({ index, field: error.split(":")[0] });
    const plan = [{ result: "update" }, { result: "refused" }];
    expect([...((await client.contacts.import(rows, { dryRun: true })).plan ?? [])]).toMatchObject(plan);
    const report = await client.contacts.import(rows, { onRejected });
    expect(report).toMatchObject({ updated: 1, rejected: 1, skipped: 0 });
    expect(rejected).toEqual([{ index: 1, field: "customFields.plan" }]);
    expect(sandbox.state.contacts.map(({ customFields }) => customFields)).toEqual([{ seats: 4 }]);
  });

  test("a required field that is absent is reported as missing", async () => {
    const { client } = service();
    const missing = /(customFields\.plan|properties\.total): is missing \(/;
    const wrong = { ...contact, customFields: { seats: 3 } };
    await expect(client.contacts.create(wrong)).rejects.toThrow(missing);
    await expect(client.events.record({ name: "order.placed", contact })).rejects.toThrow(missing);
    await expect(client.contacts.create({ ...wrong, customFields: { plan: "gold" } })).rejects.not.toThrow(
      "missing",
    );
  });

  test("an event has a known name and fitting properties, or nothing is sent", async () => {
    const { sandbox, client } = service();
    const record = (name: string, properties?: Record<string, unknown>) =>
      client.events.record({ name, contact, properties });
    await expect(record("order.plced", { total: 9 })).rejects.toMatchObject({
      message: "events.record: name: must be one of order.placed, signed.up",
    });
    await expect(record("order.placed", { total: "9" })).rejects.toMatchObject(refusal("properties.total"));
    await expect(record("order.placed")).rejects.toMatchObject(refusal("properties.total"));
    await expect(record("toString")).rejects.toMatchObject(refusal("name"));
    expect(sandbox.state.requests).toEqual([]);
    await record("order.placed", { total: 9 });
    await record("signed.up");
    expect(sandbox.state.events.map(({ name }) => name)).toEqual(["order.placed", "signed.up"]);
  });

  test("batches, recorders and ingestions check each event", async () => {
    const { sandbox, client } = service();
    const right = { name: "order.placed", contact, properties: { total: 9 } };
    const wrong = { name: "order.placed", contact, properties: { total: "9" } };
    await expect(client.events.recordBatch([wrong, wrong])).rejects.toMatchObject(
      refusal("events[0].properties.total", "events[1].properties.total"),
    );
    expect(sandbox.state.requests).toEqual([]);
    expect((await client.events.recordBatch([right, wrong])).results).toMatchObject([
      { state: "recorded" },
      { state: "refused", status: 400, error: expect.stringContaining("properties.total: ") },
    ]);
    await expect(client.events.recorder().record(wrong)).rejects.toMatchObject(refusal("properties.total"));
    const rejected: string[] = [];
    const report = await client.events.ingest([wrong, right], {
      onRejected: ({ index, error }) => void rejected.push(`${index} ${error.split(":")[0]}`),
    });
    expect([report.accepted, rejected]).toEqual([1, ["0 properties.total"]]);
  });
});

const plan = z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) });

describe("an answer", () => {
  const answering = (schemas: ClientOptions<object, object>) => {
    const { sandbox, client } = open(schemas);
    const plain = open({ fetch: sandbox.fetch }).client;
    return { client, plain };
  };

  test("that does not fit is returned, and reported to the hook without its values", async () => {
    const notices: ValidationNotice[] = [];
    const onValidationIssue = (notice: ValidationNotice) => void notices.push(notice);
    const { client, plain } = answering({ customFields: plan, hooks: { onValidationIssue } });
    await plain.contacts.create({ ...contact, customFields: { plan: "gold" } });
    expect(await client.contacts.find(contact.email)).toMatchObject({ customFields: { plan: "gold" } });
    expect(notices).toEqual([
      {
        operation: "contacts.list",
        issues: [{ path: "data[0].customFields.plan", message: "does not match the customFields schema" }],
      },
    ]);
  });

  test("that does not fit is an error in strict mode, and is not checked when validation is off", async () => {
    const { client, plain } = answering({ customFields: plan, responseValidation: "strict" });
    const { id } = await plain.contacts.create({ ...contact, customFields: { plan: "gold" } });
    await expect(client.contacts.update(id, { name: "Ada" })).rejects.toMatchObject({
      name: "ResponseValidationError",
      outcome: "unknown",
      issues: [{ path: "customFields.plan" }],
    });
    const off = client.withOptions({ responseValidation: "off" });
    expect(await off.contacts.update(id, { name: "Ada" })).toMatchObject({ name: "Ada" });
  });

  test("may lack fields, or have them cleared", async () => {
    const { client, plain } = answering({ customFields: plan, responseValidation: "strict" });
    await plain.contacts.create(contact);
    await plain.contacts.create({ email: "b@example.com", customFields: { seats: 3 } });
    expect((await client.contacts.list()).data).toHaveLength(2);
  });

  test("is returned even if a schema throws", async () => {
    const broken = z.object({}).check(() => {
      throw new Error("broken");
    });
    const { client, plain } = answering({ customFields: broken });
    const { id } = await plain.contacts.create({ ...contact, customFields: { plan: "pro" } });
    expect(await client.contacts.update(id, { name: "Ada" })).toMatchObject({ name: "Ada" });
  });
});

test("a schema may be asynchronous", async () => {
  const known = async (name: string) => name === "pro";
  const { sandbox, client } = open({ customFields: z.object({ plan: z.string().refine(known) }) });
  const create = (name: string) => client.contacts.create({ ...contact, customFields: { plan: name } });
  await expect(create("gold")).rejects.toMatchObject(refusal("customFields.plan"));
  expect(sandbox.state.requests).toEqual([]);
  await expect(create("pro")).resolves.toMatchObject({ customFields: { plan: "pro" } });
});

test("a schema that never answers ends with the call", async () => {
  const { sandbox, client } = open({ customFields: z.object({}).refine(() => new Promise(() => undefined)) });
  const stop = new AbortController();
  const call = client.contacts.create({ ...contact, customFields: {} }, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  expect(sandbox.state.requests).toEqual([]);
});

test("what a schema would transform is sent as it was given", async () => {
  const upper = z.object({ plan: z.string().transform((name) => name.toUpperCase()) });
  const { sandbox, client } = open({ customFields: upper });
  await client.contacts.create({ ...contact, customFields: { plan: "pro" } });
  expect(sandbox.state.contacts).toMatchObject([{ customFields: { plan: "pro" } }]);
});

test("an unknown key of a strict zod schema is named, in an update too", async () => {
  const { client } = open({ customFields: z.strictObject({ plan: z.string() }) });
  const customFields = { plan: "pro", typo: 1 };
  await expect(client.contacts.create({ ...contact, customFields })).rejects.toMatchObject(
    refusal("customFields.typo"),
  );
  await expect(client.contacts.update("id", { customFields: { typo: 1 } })).rejects.toMatchObject(
    refusal("customFields.typo"),
  );
});

test("reserved names and refused properties are refused with and without schemas", async () => {
  const { sandbox, client } = open({});
  const typed = open({ events: { viewed: z.looseObject({}) } });
  const secret = { name: "viewed", contact, properties: { ["password" as string]: "x" } };
  await expect(client.events.record({ name: "service.x" as string, contact })).rejects.toMatchObject(
    refusal("name"),
  );
  await expect(client.events.record(secret)).rejects.toMatchObject(refusal("properties.password"));
  await expect(typed.client.events.record(secret)).rejects.toMatchObject(refusal("properties.password"));
  expect([...sandbox.state.requests, ...typed.sandbox.state.requests]).toEqual([]);
});

test("an event without properties fits a schema that takes none", async () => {
  const { sandbox, client } = open({ events: { pinged: z.undefined() } });
  await client.events.record({ name: "pinged", contact });
  expect(sandbox.state.events).toHaveLength(1);
});

test("every fault of the schemas is reported at once", () => {
  const wrong: unknown = { plan: "string" };
  const events: unknown = { "service.sent": z.object({}), viewed: 3 };
  expect(() => open({ customFields: wrong, events } as ClientOptions)).toThrow(
    'customFields must be a Standard Schema, for example of zod, valibot or arktype, got an object; events: "service.sent" is ' +
      'reserved for events that the service records itself; events["viewed"] must be a Standard Schema',
  );
  expect(() => open({ events: {} })).toThrow("events must be an object with a schema for each event name");
});
