import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const { fetch } = sandbox;
  return {
    sandbox,
    client: new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false }),
  };
};

test("people are added to a list and taken off it, and keep their other lists", async () => {
  const { sandbox, client } = service();
  const readers = await client.lists.create({ name: "Readers" });
  const writers = await client.lists.create({ name: "Writers" });
  await client.lists.addContacts(writers.id, ["ada@example.com"]);
  const added = await client.lists.addContacts(readers.id, new Set(["ada@example.com", "bob@example.com"]));
  expect(added).toMatchObject({ requested: 2, calls: 1 });
  await client.lists.removeContacts(readers.id, ["Ada@Example.com"]);
  expect(sandbox.state.contacts).toMatchObject([
    { email: "ada@example.com", listIds: [writers.id] },
    { email: "bob@example.com", listIds: [readers.id] },
  ]);
});

test("2,500 addresses of a stream all end up in the list, though answers are lost", async () => {
  const { sandbox, client } = service();
  const { id } = await client.lists.create({ name: "Readers" });
  sandbox.fail({ operation: "lists.addContacts", nth: 2, with: "reset-after-apply" });
  const addresses = async function* () {
    for (let at = 0; at < 2_500; at += 1) yield `p${at}@example.com`;
  };
  expect(await client.lists.addContacts(id, addresses())).toMatchObject({ requested: 2_500, calls: 3 });
  expect(sandbox.state.contacts.filter(({ listIds }) => listIds.includes(id))).toHaveLength(2_500);
});

test("what `partial` says went through is in the list, and the rest can be sent again", async () => {
  const { sandbox, client } = service();
  const { id } = await client.lists.create({ name: "Readers" });
  sandbox.fail({ operation: "lists.addContacts", nth: 2, with: { status: 400 } });
  const emails = Array.from({ length: 2_500 }, (_, at) => `p${at}@example.com`);
  const error = await client.lists.addContacts(id, emails).catch((reason) => reason);
  const members = () => sandbox.state.contacts.filter(({ listIds }) => listIds.includes(id));
  expect(members().map(({ email }) => email)).toEqual(error.partial.done);
  await client.lists.addContacts(id, error.partial.left);
  expect(members()).toHaveLength(2_500);
});

test("a name that another list has is a conflict, a list that nobody has is not found", async () => {
  const { client } = service();
  await client.lists.create({ name: "Readers" });
  await expect(client.lists.create({ name: "Readers" })).rejects.toMatchObject({ name: "ConflictError" });
  await expect(client.lists.addContacts("nobody", ["ada@example.com"])).rejects.toMatchObject({
    name: "NotFoundError",
  });
});
