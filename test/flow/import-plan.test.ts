import { expect, test } from "vitest";
import { Client, type ContactInput } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const rows = (count: number): ContactInput[] =>
  Array.from({ length: count }, (_, at) => ({
    email: `p${at}@example.com`,
    name: `Person ${at}`,
    customFields: { n: at },
  }));

/** A workspace of so many contacts, and the requests that are made after it was filled. */
const workspace = (count: number) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const setup = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false } as const;
  const client = new Client(setup);
  const filled = rows(count);
  sandbox.seedContacts(count, (at) => filled[at] ?? {});
  const before = sandbox.state.requests.length;
  const counted = () => {
    const counts: Record<string, number> = {};
    for (const { method } of sandbox.state.requests.slice(before)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  };
  return { sandbox, client, counted };
};

test("an import that changes nothing reads the list once, and sends nothing", async () => {
  const { client, counted } = workspace(1_000);
  const report = await client.contacts.import(rows(1_000));
  expect(report).toMatchObject({ read: 1_000, unchanged: 1_000 });
  // Pages share two records with the one before.
  expect(counted()).toEqual({ GET: 6 });
});

test("fewer rows than the list has pages are looked up one by one", async () => {
  const { client, counted } = workspace(1_000);
  const changed = rows(403)
    .slice(400)
    .map((row, at) => (at === 1 ? { ...row, name: "New" } : row));
  const report = await client.contacts.import(changed);
  expect(report).toMatchObject({ unchanged: 2, updated: 1 });
  expect(counted()).toEqual({ GET: 4, PATCH: 1 });
});

test("of many rows those that create or change are sent, and no other", async () => {
  const { client, sandbox, counted } = workspace(600);
  const given = rows(650).map((row, at) => (at % 100 === 0 ? { ...row, name: `New ${at}` } : row));
  expect(await client.contacts.import(given)).toMatchObject({ created: 50, updated: 6, unchanged: 594 });
  expect(counted()).toEqual({ GET: 4, POST: 50, PATCH: 6 });
  expect(sandbox.state.contacts.filter(({ name }) => String(name).startsWith("New "))).toHaveLength(7);
});

test("contacts that others create and delete after the list was read are handled", async () => {
  const { client, sandbox } = workspace(300);
  const other = sandbox.state.contacts.find(({ email }) => email === "p1@example.com");
  const given = rows(302).map((row) => ({ ...row, name: "Same" }));
  const source = async function* () {
    yield* given.slice(0, 100);
    await client.contacts.create({ email: "p301@example.com", name: "Other" });
    await client.contacts.update(String(other?.id), { email: "moved@example.com" });
    yield* given.slice(100);
  };
  const report = await client.contacts.import(source(), { concurrency: 1 });
  expect(report).toMatchObject({ read: 302, rejected: 0, unknown: 0 });
  const byEmail = new Map(sandbox.state.contacts.map((contact) => [contact.email, contact.name]));
  expect([byEmail.get("p301@example.com"), byEmail.get("p300@example.com")]).toEqual(["Same", "Same"]);
});

test.each([
  ["create", { created: 5, updated: 0, unchanged: 0, skipped: 300 }],
  ["update", { created: 0, updated: 300, unchanged: 0, skipped: 5 }],
  ["upsert", { created: 5, updated: 300, unchanged: 0, skipped: 0 }],
] as const)("mode %s leaves alone what it does not touch", async (mode, counts) => {
  const { client } = workspace(300);
  const given = rows(305).map((row) => ({ ...row, name: "New" }));
  expect(await client.contacts.import(given, { mode })).toMatchObject({ read: 305, unknown: 0, ...counts });
});

test("a dry run sends no change and reports the result of each row", async () => {
  const { client, counted } = workspace(300);
  const given: ContactInput[] = [
    { email: "P0@example.com", name: "Person 0" },
    { email: "p1@example.com", name: "New", customFields: { n: 1, more: true } },
    { email: "new@example.com", name: "New" },
    { email: "nobody" },
    { email: "NEW@example.com", name: "New" },
    { email: "p2@example.com", customFields: { n: null } },
  ];
  const { plan, ...report } = await client.contacts.import(given, { dryRun: true });
  expect(report).toMatchObject({ created: 1, updated: 2, unchanged: 2, rejected: 1, unknown: 0 });
  expect([...(plan ?? [])]).toEqual([
    { index: 0, email: "P0@example.com", result: "unchanged" },
    {
      ...{ index: 1, email: "p1@example.com", result: "update" },
      fields: ["name", "customFields.more"],
    },
    { index: 2, email: "new@example.com", result: "create" },
    { index: 3, email: "nobody", result: "refused", reason: expect.stringContaining("email") },
    { index: 4, email: "NEW@example.com", result: "unchanged" },
    { index: 5, email: "p2@example.com", result: "update", fields: ["customFields.n"] },
  ]);
  expect(Object.keys(counted())).toEqual(["GET"]);
});

test("maxChanges ends the run at the first change beyond it, and the next run goes on", async () => {
  const { client, sandbox } = workspace(300);
  const saved: unknown[] = [];
  const checkpoint = {
    load: async () => saved.at(-1),
    save: async (state: unknown) => void saved.push(state),
  };
  const given = rows(300).map((row, at) => (at >= 200 ? { ...row, name: "New" } : row));
  const first = await client.contacts
    .import(given, { checkpoint, maxChanges: 60 })
    .catch((error: unknown) => error);
  expect(first).toMatchObject({
    code: "configuration_invalid",
    message: expect.stringContaining("maxChanges allows only 60 changes"),
    partial: { report: { updated: 60 } },
  });
  expect(sandbox.state.contacts.filter(({ name }) => name === "New")).toHaveLength(60);
  expect(await client.contacts.import(given, { checkpoint, maxChanges: 40 })).toMatchObject({ updated: 40 });
  expect(sandbox.state.contacts.filter(({ name }) => name === "New")).toHaveLength(100);
});

test("a key that may not list contacts can import", async () => {
  const { sandbox } = workspace(0);
  const fetch: typeof globalThis.fetch = async (url, init) =>
    init?.method === "GET"
      ? Response.json({ error: "no" }, { status: 403 })
      : sandbox.fetch(String(url), init);
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  expect(await client.contacts.import(rows(30))).toMatchObject({ created: 30 });
  const updating = client.contacts.import([{ email: "new@example.com" }], { mode: "update" });
  await expect(updating).rejects.toThrow("the key may not list contacts");
  const planning = client.contacts.import([{ email: "p0@example.com" }], { dryRun: true });
  await expect(planning).rejects.toThrow("the key may not list contacts, so a dry run cannot find out");
  expect(sandbox.state.contacts).toHaveLength(30);
});
