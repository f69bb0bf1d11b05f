import { expect, test } from "vitest";
import { Client, NotFoundError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const { fetch } = sandbox;
  return {
    sandbox,
    client: new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false }),
  };
};

const ada = { email: "ada@example.com" };
const event = { name: "page.viewed", contact: ada };

test("every method that makes several requests reports all of them with its result", async () => {
  const { client } = service();
  await client.contacts.create(ada);
  const { id } = await client.lists.create({ name: "Readers" });
  const told = await Promise.all(
    [
      client.contacts.find(ada.email),
      client.contacts.upsert({ ...ada, name: "Ada" }),
      client.contacts.list().toArray(),
      client.contacts.import([{ email: "bob@example.com" }]),
      client.lists.addContacts(id, [ada.email]),
      client.lists.removeContacts(id, [ada.email]),
      client.events.recordBatch(Array(150).fill(event)),
      client.events.ingest([event]),
    ].map((answer) => answer.withResponse()),
  );
  expect(told.map(({ response }) => [response.status, response.attempts])).toEqual([
    [200, 1],
    // A creation that clashes, a search and an update.
    [200, 3],
    [200, 1],
    // The list is read first: it is one page, as many requests as the row alone.
    [201, 2],
    [200, 1],
    [200, 1],
    [207, 2],
    [207, 1],
  ]);
  expect(told[0]?.response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(told[0]?.data).toMatchObject(ada);
  await client.close();
});

test("a call that sends nothing has no response", async () => {
  const { client } = service();
  const { data, response } = await client.events.recordBatch([]).withResponse();
  expect([data.results, response]).toEqual([
    [],
    { status: 0, headers: new Headers(), attempts: 0, waitedMs: 0 },
  ]);
});

test("a call of several requests that fails rejects both of its promises with one error", async () => {
  const { client } = service();
  const answer = client.lists.addContacts("list_none", [ada.email]);
  const both = await Promise.allSettled([answer.withResponse(), answer]);
  const [first, second] = both.map((settled) => (settled.status === "rejected" ? settled.reason : undefined));
  expect(first).toBeInstanceOf(NotFoundError);
  expect(second).toBe(first);
});

test("a search whose answer holds no records finds nobody", async () => {
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: async () => Response.json({ data: [null, 5, {}], total: 3 }),
  });
  expect(await client.contacts.find(ada.email)).toBeNull();
  await client.close();
});
