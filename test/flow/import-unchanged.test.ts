import { expect, test } from "vitest";
import { hasSameFields } from "../../src/bulk/contact-fields.ts";
import { Client, type ContactInput, type ImportOptions } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const email = "ada@example.com";

/** A workspace with one contact, whose imports read the list. */
const workspace = async (fields: Omit<ContactInput, "email">) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  });
  await client.contacts.create({ email, ...fields });
  const run = async (rows: readonly Omit<ContactInput, "email">[], options: ImportOptions = {}) => {
    const given = rows.map((row) => ({ email, ...row }));
    return client.contacts.import(given, { concurrency: 1, ...options });
  };
  return { sandbox, client, run };
};

const cases: readonly (readonly [string, object, object, boolean])[] = [
  ["a list with an item more often", { customFields: { tags: ["a", "a", "b"] } }, ["a", "b", "b"], false],
  ["a list in another order", { customFields: { tags: ["a", "b"] } }, ["b", "a"], false],
  ["the same list", { customFields: { tags: ["a", "b"] } }, ["a", "b"], true],
].map(([what, before, tags, isSame]) => [what, before, { customFields: { tags } }, isSame] as never);

test.each([
  ...cases,
  ["lists in another order", { listIds: ["l1", "l2"] }, { listIds: ["l2", "l1", "l2"] }, true],
  [
    "a Date with its ISO string",
    { customFields: { at: "2026-01-01T00:00:00.000Z" } },
    { customFields: { at: new Date("2026-01-01") } },
    true,
  ],
  ["a text with a number", { customFields: { seats: 3 } }, { customFields: { seats: "3" } }, false],
  ["null for what is missing", {}, { notes: null, customFields: { plan: null } }, true],
  ["a field that is undefined", { name: "Ada" }, { name: undefined }, true],
  ["times of its own", { createdAt: "2026-01-01T00:00:00Z" }, { createdAt: "2020-01-01T00:00:00Z" }, true],
] as const)("%s: a row is the same by value and order", (_, before, row, isSame) => {
  expect(hasSameFields(row, before)).toBe(isSame);
});

test("a new order of a custom list is written, and written once", async () => {
  const { sandbox, run } = await workspace({ customFields: { tags: ["a", "b"] } });
  const row = { customFields: { tags: ["b", "a"] } };
  expect(await run([row, row])).toMatchObject({ updated: 1, unchanged: 1 });
  expect(sandbox.state.contacts[0]?.customFields.tags).toEqual(["b", "a"]);
});

test("a Date is sent once, and no more", async () => {
  const { run } = await workspace({});
  const row = { customFields: { renewal: new Date("2026-01-31T09:00:00.000Z") } };
  expect(await run([row])).toMatchObject({ updated: 1 });
  expect(await run([row])).toMatchObject({ unchanged: 1 });
});

test("a plan knows that an earlier row has cleared a field", async () => {
  const { run } = await workspace({ customFields: { plan: "pro" } });
  const clear = { customFields: { plan: null } };
  const { plan } = await run([clear, clear, { customFields: { plan: "pro" } }], { dryRun: true });
  expect([...(plan ?? [])].map(({ result }) => result)).toEqual(["update", "unchanged", "update"]);
});

test("a plan of any length, with reasons of any length, is read back from its file", async () => {
  const { client } = await workspace({});
  const rows = Array.from({ length: 3_000 }, (_, at) => ({ email: `p${at}@example.com`, notes: 3 }));
  // Refused: notes must be a text. What a JavaScript program may give.
  const { plan } = await client.contacts.import(rows as unknown as ContactInput[], { dryRun: true });
  const read = [...(plan ?? [])];
  expect([read.length, plan?.length, read.at(-1)]).toEqual([
    3_000,
    3_000,
    {
      ...{ index: 2_999, email: "p2999@example.com", result: "refused" },
      reason: expect.stringContaining("notes"),
    },
  ]);
});
