import { describe, expect, test } from "vitest";
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  MailAccountError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
} from "../../src/errors.ts";
import { endpoints } from "./samples.ts";
import { answering, clientOf, service } from "./service.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hello" } as const;
const failure = (answer: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(answer).then(
    () => new Error("it succeeded"),
    (error: unknown) => error,
  );

describe("the errors table", () => {
  test.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionDeniedError],
    [404, NotFoundError],
    [409, ConflictError],
    [429, RateLimitError],
    [500, InternalServerError],
    [502, MailAccountError],
    [503, ServiceUnavailableError],
  ] as const)("%i on a send is its own error, with the service's sentence", async (status, kind) => {
    const { client } = answering(status, { error: "The service's own sentence." });
    const error = await failure(client.emails.send(email));
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({
      status,
      message: expect.stringContaining("The service's own sentence."),
      body: { error: "The service's own sentence." },
    });
  });

  test("a 429 says how long to wait, from the seconds of Retry-After", async () => {
    const { client } = answering(429, { error: "Too many." }, { "retry-after": "7200" });
    expect(await failure(client.contacts.list())).toMatchObject({ retryAfterMs: 7_200_000 });
  });
});

describe("authentication", () => {
  test.each(endpoints)("%s %s without a valid key is a 401", async (method, path) => {
    const { sandbox } = service();
    const target = `https://service.test${path.replace(":id", "x")}`;
    const body = method === "GET" ? {} : { body: "{}" };
    const json = { "content-type": "application/json" };
    for (const headers of [json, { ...json, authorization: "Bearer nobody" }])
      expect((await sandbox.fetch(target, { method, headers, ...body })).status).toBe(401);
  });

  test("a revoked and an expired key are an AuthenticationError", async () => {
    const { sandbox } = service({
      apiKeys: [
        { key: "revoked", revoked: true },
        { key: "expired", expiresAt: "2026-01-01T00:00:00Z" },
      ],
    });
    for (const apiKey of ["revoked", "expired"]) {
      const client = clientOf(sandbox.fetch, { apiKey });
      expect(await failure(client.contacts.list())).toBeInstanceOf(AuthenticationError);
    }
  });
});

describe("per operation", () => {
  const customFields = { plan: "text" } as const;
  test.each([
    ["update contact: invalid value", 400, { stage: "" }],
    ["update contact: unknown custom field", 400, { customFields: { color: "red" } }],
    ["update contact: wrong kind of value", 400, { customFields: { plan: 1 } }],
    ["update contact: email of another", 409, { email: "bob@example.com" }],
  ])("%s is a %i", async (_, status, patch) => {
    const { client, sandbox } = service({ customFields });
    const { id } = sandbox.addContact({ email: "ada@example.com" });
    sandbox.addContact({ email: "bob@example.com" });
    expect(await failure(client.contacts.update(id, patch))).toMatchObject({ status });
  });

  test("create contact: an email that exists is a 409", async () => {
    const { client } = service();
    await client.contacts.create({ email: "ada@example.com" });
    expect(await failure(client.contacts.create({ email: "ada@example.com" }))).toMatchObject({
      status: 409,
    });
  });

  test.each([
    ["an occurredAt in the future", 400, { occurredAt: "2026-03-01T12:00:01Z" }],
    ["properties that are too big", 400, { properties: { a: "x".repeat(40_000) } }],
    ["a contact id not in the workspace", 404, { contact: { id: "none" } }],
    ["email and externalId of two people", 409, { contact: { email: "ada@example.com", externalId: "bob" } }],
  ])("record event: %s is a %i", async (_, status, part) => {
    const { client, sandbox } = service();
    sandbox.addContact({ email: "ada@example.com" });
    await client.events.record({ name: "x", contact: { email: "bob@example.com", externalId: "bob" } });
    const event = { name: "x", contact: { email: "ada@example.com" }, ...part };
    expect(await failure(client.events.record(event))).toMatchObject({ status });
  });

  test("no operation finds records of another workspace", async () => {
    const { client, sandbox } = service({ apiKeys: ["sandbox-key", { key: "other", workspace: "other" }] });
    const contact = await client.contacts.create({ email: "ada@example.com" });
    const company = await client.companies.create({ companyName: "Engines" });
    const list = await client.lists.create({ name: "News" });
    const kept = await client.emails.schedule({ ...email, sendAt: "2026-03-02T00:00:00Z" });
    const other = clientOf(sandbox.fetch, { apiKey: "other" });
    for (const call of [
      () => other.contacts.update(contact.id, { name: "x" }),
      () => other.companies.update(company.id ?? "", { industry: "x" }),
      () => other.lists.addContacts(list.id, ["bob@example.com"]),
      () => other.lists.removeContacts(list.id, ["ada@example.com"]),
      () => other.events.record({ name: "x", contact: { id: contact.id } }),
      () => other.emails.scheduled.update(kept.id, { subject: "x" }),
      () => other.emails.scheduled.cancel(kept.id),
    ])
      expect(await failure(call())).toBeInstanceOf(NotFoundError);
    expect((await other.contacts.list()).total).toBe(0);
  });
});
