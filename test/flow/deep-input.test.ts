import { expect, test } from "vitest";
import { Client, type RejectedContact, type RejectedEvent } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false } as const;
  return { sandbox, client: new Client(given) };
};

/** An object of so many levels, itself included. */
const nested = (levels: number): Record<string, unknown> => {
  let value: Record<string, unknown> = { leaf: 1 };
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
};

const contact = { email: "a@example.com" };
const refusal = "must not be nested more than 100 levels deep";

test("an event nested 100 levels deep is recorded", async () => {
  const { client, sandbox } = service();
  await client.events.record({ name: "x", contact, properties: nested(100) });
  expect(sandbox.state.events).toHaveLength(1);
});

test.each([101, 5_000, 100_000])(
  "an event nested %i levels deep is told to onRejected, and no other",
  async (levels) => {
    const { client, sandbox } = service();
    const rejected: RejectedEvent[] = [];
    const events = [
      { name: "x", contact, id: "1" },
      { name: "x", contact, id: "2", properties: nested(levels) },
      { name: "x", contact, id: "3", extra: nested(levels) },
      { name: "x", contact, id: "4", extra: 1n },
      { name: "x", contact, properties: nested(levels) },
      { name: "x", contact, id: "5" },
    ];
    const report = await client.events.ingest(events, { onRejected: (one) => void rejected.push(one) });
    expect(report).toMatchObject({ accepted: 2, rejected: 4, unknown: 0 });
    expect(rejected.map(({ index, error }) => `${index} ${error}`)).toEqual([
      `1 properties: ${refusal}`,
      `2 extra: ${refusal}`,
      "3 extra: must not be a bigint: JSON does not support it",
      `4 properties: ${refusal}`,
    ]);
    expect(sandbox.state.events).toHaveLength(2);
  },
);

test("a checkpoint may end with an event that is nested too deep", async () => {
  const { client } = service();
  const saved: unknown[] = [];
  const checkpoint = {
    load: async () => saved.at(-1),
    save: async (state: unknown) => void saved.push(state),
  };
  const events = [{ name: "x", contact, properties: nested(50_000) }];
  await client.events.ingest(events, { checkpoint });
  expect(await client.events.ingest(events, { checkpoint })).toMatchObject({ read: 1, skipped: 1 });
});

test("only a row nested too deep goes to onRejected", async () => {
  const { client } = service();
  const rejected: RejectedContact[] = [];
  const rows = [
    { email: "a@example.com" },
    { email: "b@example.com", customFields: nested(20_000) },
    { email: "c@example.com" },
  ];
  const report = await client.contacts.import(rows, { onRejected: (one) => void rejected.push(one) });
  expect(report).toMatchObject({ created: 2, rejected: 1 });
  expect(rejected.map(({ index, error }) => `${index} ${error}`)).toEqual([`1 customFields: ${refusal}`]);
});

const deep = nested(50_000);
const list = ["a@example.com"];

test.each<readonly [string, (client: Client) => PromiseLike<unknown>]>([
  ["events.record", (client) => client.events.record({ name: "x", contact, properties: deep })],
  ["events.recordBatch", (client) => client.events.recordBatch([{ name: "x", contact, properties: deep }])],
  ["events.recorder", (client) => client.events.recorder().record({ name: "x", contact, properties: deep })],
  ["contacts.create", (client) => client.contacts.create({ email: "a@example.com", customFields: deep })],
  ["contacts.update", (client) => client.contacts.update("c1", { customFields: deep })],
  ["contacts.upsert", (client) => client.contacts.upsert({ email: "a@example.com", customFields: deep })],
  // As JavaScript may: fields that no type knows.
  [
    "companies.create",
    (client) => client.companies.create(Object.assign({ companyName: "A" }, { extra: deep })),
  ],
  [
    "companies.update",
    (client) => client.companies.update("c1", Object.assign({ industry: "A" }, { extra: deep })),
  ],
  ["lists.create", (client) => client.lists.create(Object.assign({ name: "A" }, { extra: deep }))],
  ["lists.addContacts", (client) => client.lists.addContacts("l1", [...list, Object(deep)])],
  [
    "emails.send",
    (client) =>
      client.emails.send(Object.assign({ to: "a@example.com", subject: "A", text: "A" }, { extra: deep })),
  ],
  [
    "emails.send once",
    (client) =>
      client.emails.send(Object.assign({ to: "a@example.com", subject: "A", text: "A" }, { extra: deep }), {
        once: "k",
      }),
  ],
  ["request", (client) => client.request({ method: "POST", path: "/api/v1/events", body: deep })],
])("%s refuses what is nested too deep, and sends nothing", async (_name, write) => {
  const { client, sandbox } = service();
  const error = await Promise.resolve(write(client)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "input_invalid", outcome: "not-applied" });
  expect(String(error).length).toBeLessThan(400);
  expect(sandbox.state.requests).toEqual([]);
});
