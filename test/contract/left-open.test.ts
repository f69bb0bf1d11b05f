import { describe, expect, test } from "vitest";
import { operations } from "../../src/service/operations.ts";
import { samples } from "./samples.ts";
import { answering, service } from "./service.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hello" } as const;
const contact = { email: "ada@example.com" };

describe("values and fields the document does not name pass through", () => {
  test.each(["stage", "source"] as const)("every %s of a contact, known or not", async (field) => {
    const { client, sent } = answering(200, { ...samples.contact, [field]: "SOMETHING_NEW" });
    expect((await client.contacts.create({ ...contact, [field]: "SOMETHING_ELSE" }))[field]).toBe(
      "SOMETHING_NEW",
    );
    expect(sent[0]?.body).toMatchObject({ [field]: "SOMETHING_ELSE" });
  });

  test("every status of a scheduled email, known or not", async () => {
    const { client } = answering(201, { ...samples.scheduledEmail, status: "SENT", more: 1 });
    expect(await client.emails.schedule({ ...email, sendAt: new Date(0) })).toMatchObject({
      status: "SENT",
      more: 1,
    });
  });

  test("more fields of a contact, a company, a list and a receipt", async () => {
    const all = { ...samples.sentEmail, ...samples.contact, ...samples.receipt };
    const { client } = answering(200, { ...all, more: { deep: 1 } });
    const { id } = samples.contact;
    for (const answer of [
      await client.contacts.update(id, {}),
      await client.companies.update(id, {}),
      await client.lists.create({ name: "x" }),
      await client.events.record({ name: "x", contact }),
      await client.emails.send(email),
    ])
      expect(answer).toMatchObject({ more: { deep: 1 } });
  });

  test("more body fields, such as those that turn tracking off or add a cc, go out as given", async () => {
    const { client, sent } = answering(200, samples.sentEmail);
    const more = { cc: ["bob@example.com"], trackOpens: false };
    await client.emails.send({ ...email, ...more });
    expect(sent[0]?.body).toEqual({ ...email, ...more });
  });

  test("more fields of a new contact, a patch and a company go out as given", async () => {
    const { client, sent } = answering(200, samples.contact);
    const more = { nickname: "Ada" };
    await client.contacts.create({ ...contact, ...more });
    await client.contacts.update("x", more as object);
    await client.companies.update("x", more as object);
    expect(sent.map(({ body }) => body)).toEqual([{ ...contact, ...more }, more, more]);
  });

  test("more query parameters go out as given", async () => {
    const { client, sent } = answering(200, samples.contactPage);
    const query = { search: "ada", sort: "name" };
    await client.contacts.list(query);
    expect(sent[0]?.url).toBe("https://service.test/api/v1/contacts?search=ada&sort=name");
  });
});

describe("responses that the document does not show are accepted", () => {
  test.each([200, 201, 202, 299])("a contact created with %i", async (status) => {
    const { client } = answering(status, samples.contact);
    expect(await client.contacts.create(contact)).toEqual(samples.contact);
  });

  test.each([{ added: 1 }, [], null, "done", undefined])("%j for a change of a list", async (body) => {
    const { client } = answering(200, body);
    const { responses } = await client.lists.addContacts("x", ["ada@example.com"]);
    expect(responses).toEqual([body]);
  });

  test.each([{ error: "No." }, { error: { code: 7 } }, { message: "No." }])(
    "a failed item of a batch: %j",
    async (item) => {
      const answer = { accepted: 0, rejected: 1, results: [{ status: 400, ...item }] };
      const { client } = answering(207, answer);
      const { rejected, results } = await client.events.recordBatch([{ name: "x", contact }]);
      expect([rejected, results[0]?.index, results[0]?.status]).toEqual([1, 0, 400]);
    },
  );
});

describe("what the document leaves to the service", () => {
  test("a key without scopes may list contacts", async () => {
    const { client } = service({ apiKeys: [{ key: "sandbox-key", scopes: [] }] });
    expect((await client.contacts.list()).total).toBe(0);
  });

  test("properties of any size are sent", async () => {
    const { client, sent } = answering(202, samples.receipt);
    const properties = { text: "x".repeat(1_000_000) };
    await client.events.record({ id: "1", name: "x", contact, properties });
    expect(sent[0]?.body).toEqual({ id: "1", name: "x", contact, properties });
  });

  test("a placeholder for an event's property stays as it is written", async () => {
    const { client, sent } = answering(200, samples.sentEmail);
    await client.emails.send({ ...email, text: "Hello {{event.name}}" });
    expect(sent[0]?.body).toMatchObject({ text: "Hello {{event.name}}" });
  });

  test("every path has the version the document describes, and no other", () => {
    const paths = Object.values(operations).flatMap((group) => Object.values(group).map(({ path }) => path));
    expect(paths.filter((path) => !path.startsWith("/api/v1/"))).toEqual([]);
  });

  test("there is no operation for webhooks, custom field definitions or signatures", () => {
    expect(Object.keys(operations).join(" ")).not.toMatch(/webhook|field|signature/i);
  });
});
