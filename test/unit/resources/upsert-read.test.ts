import { expect, test } from "vitest";
import * as z from "zod";
import { ValidationError } from "../../../src/errors.ts";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

const world = () => {
  const sandbox = createSandbox({ apiKeys: ["tp_key"] });
  const bodies: unknown[] = [];
  const fetch: typeof sandbox.fetch = (url, init) => {
    if (typeof init?.body === "string") bodies.push(JSON.parse(init.body));
    return sandbox.fetch(url, init);
  };
  const given = { apiKey: "tp_key", baseUrl: "https://crm.example", fetch };
  return { sandbox, bodies, given, client: new Client(given) };
};

test("a contact as it was read is upserted without nulls, id, times and lists", async () => {
  const { client, bodies } = world();
  const { id } = await client.lists.create({ name: "Engineers" });
  await client.lists.addContacts(id, ["ada@example.com"]);
  const read = await client.contacts.find("ada@example.com");
  if (read === null) throw new Error("no contact");
  bodies.length = 0;
  const { created, contact } = await client.contacts.upsert({ ...read, name: "Ada", phone: null });
  expect({ created, name: contact.name, listIds: contact.listIds }).toEqual({
    created: false,
    name: "Ada",
    listIds: [id],
  });
  for (const body of bodies) {
    expect(Object.values(body as object)).not.toContain(null);
    for (const name of ["id", "createdAt", "updatedAt", "listIds"]) expect(body).not.toHaveProperty(name);
  }
});

test.each([undefined, null])("an upsert of %j is refused like any other input", async (input) => {
  const { client, bodies } = world();
  const call = client.contacts.upsert(input as never);
  await expect(call).rejects.toThrow(ValidationError);
  await expect(call).rejects.toMatchObject({ operation: "contacts.upsert", outcome: "not-applied" });
  expect(bodies).toEqual([]);
});

test("lists that are given to an upsert are sent", async () => {
  const { client } = world();
  const { id } = await client.lists.create({ name: "Engineers" });
  const { contact } = await client.contacts.upsert({ email: "ada@example.com", listIds: [id] });
  expect(contact.listIds).toEqual([id]);
});

test("an upsert checks the custom fields that it gives, and a creation all of them", async () => {
  const { given } = world();
  const client = new Client({
    ...given,
    customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.number().optional() }),
  });
  const email = "ada@example.com";
  await client.contacts.upsert({ email, customFields: { plan: "pro" } });
  const { contact } = await client.contacts.upsert({ email, customFields: { seats: 3 } });
  expect(contact.customFields).toEqual({ plan: "pro", seats: 3 });
  const wrong: object = { email, customFields: { plan: "gold" } };
  await expect(client.contacts.upsert(wrong as { email: string })).rejects.toThrow(ValidationError);
  const part: object = { email: "grace@example.com", customFields: { seats: 3 } };
  await expect(client.contacts.create(part as { email: string })).rejects.toThrow("customFields.plan");
});

test("contactFields are checked by the schema of the custom fields", async () => {
  const { given, sandbox } = world();
  const client = new Client({ ...given, customFields: z.object({ plan: z.enum(["free", "pro"]) }) });
  const event = { name: "signed.up", contact: { email: "ada@example.com" } };
  await client.events.record({ ...event, contactFields: { name: "Ada", customFields: { plan: "pro" } } });
  const wrong = { ...event, contactFields: { customFields: { plan: "gold" } } };
  // @ts-expect-error no such plan
  await expect(client.events.record(wrong)).rejects.toMatchObject({
    issues: [{ path: "contactFields.customFields.plan" }],
  });
  expect(sandbox.state.events).toHaveLength(1);
});

test("an outcome that the document does not name is handed over, and reported", async () => {
  const issues: unknown[] = [];
  const receipt = {
    id: "e1",
    name: "signed.up",
    contactId: "c1",
    duplicate: false,
    outcome: "LATER",
    note: null,
  };
  const counts = { createdContact: false, runsStarted: 0, runsExited: 0, runsResumed: 0, runsConverted: 1.5 };
  const client = new Client({
    apiKey: "tp_key",
    baseUrl: "https://crm.example",
    fetch: async () => Response.json({ ...receipt, ...counts }, { status: 202 }),
    hooks: { onValidationIssue: (notice) => issues.push(...notice.issues) },
  });
  const { outcome } = await client.events.record({
    name: "signed.up",
    contact: { email: "ada@example.com" },
  });
  expect(outcome).toBe("LATER");
  expect(issues).toEqual([
    { path: "outcome", message: "must be PROCESSED, NO_CONTACT or TOO_OLD" },
    { path: "runsConverted", message: "must be a whole number" },
  ]);
});

test("the people of a company are typed and checked", async () => {
  const company = { id: "company-1", contacts: [{ email: "ada@example.com", name: "Ada", title: null }] };
  const client = new Client({
    apiKey: "tp_key",
    baseUrl: "https://crm.example",
    fetch: async () => Response.json(company),
    responseValidation: "strict",
  });
  const [person] = (await client.companies.update("company-1", { industry: "Computing" })).contacts ?? [];
  expect(person?.name).toBe("Ada");
});
