import { beforeAll, expect, test } from "vitest";
import { Client, type RejectedContact } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

// Loaded in the middle of a run; time that only a test moves would run on meanwhile.
beforeAll(() => import("../../src/bulk/import.ts"));

// U+212A, the Kelvin sign: toLowerCase() makes a k of it.
const victim = "kate@example.com";
const other = "\u212Aate@example.com";

/** A service for which the Kelvin sign is a k, as for one that folds case by Unicode. */
const unicodeService = async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const fetch = (url: string, init: RequestInit = {}): Promise<Response> =>
    sandbox.fetch(url.replace(encodeURIComponent("\u212A"), "k"), {
      ...init,
      ...(typeof init.body === "string" && { body: init.body.replaceAll("\u212A", "k") }),
    });
  const clock = new FakeClock();
  const options = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false } as const;
  const client = new Client(options, { clock, random: () => 0.5 });
  await client.contacts.create({ email: victim, name: "Kate" });
  const patched = () => sandbox.state.requests.filter(({ method }) => method === "PATCH").length;
  return { sandbox, client, clock, patched };
};

test("find takes no contact for another whose address differs in more than the case of ASCII letters", async () => {
  const { client } = await unicodeService();
  expect((await client.contacts.find("KATE@Example.com"))?.name).toBe("Kate");
  expect(await client.contacts.find(other)).toBeNull();
});

test.each(["upsert", "create", "update"] as const)(
  "an import, mode %s, never changes another contact",
  async (mode) => {
    const { client, clock, patched } = await unicodeService();
    const rejected: RejectedContact[] = [];
    const rows = Array.from({ length: 2 }, (_, at) => ({ email: other, name: `Mallory ${at}` }));
    const onRejected = (one: RejectedContact) => void rejected.push(one);
    const report = await clock.until(client.contacts.import(rows, { mode, onRejected }));
    expect(report).toMatchObject({ updated: 0, created: 0, unchanged: 0 });
    expect(patched()).toBe(0);
    expect((await client.contacts.find(victim))?.name).toBe("Kate");
    const told = rejected.map(({ status, error }) => `${status}: ${error}`);
    const expected = expect.stringMatching(/^409: .*search does not show it yet.*another spelling/);
    expect(told).toEqual(mode === "update" ? [] : [expected, expected]);
  },
);

test("an upsert rejects with ConflictError when the service takes its new address for another one", async () => {
  const { client, clock, patched } = await unicodeService();
  const upserting = clock.until(client.contacts.upsert({ email: other, name: "Mallory" }));
  await expect(upserting).rejects.toMatchObject({
    name: "ConflictError",
  });
  expect(patched()).toBe(0);
});

test("a list gets both of two addresses that only toLowerCase makes one", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  });
  const { id } = await client.lists.create({ name: "all" });
  const { requested } = await client.lists.addContacts(id, [victim, other, "KATE@example.com"]);
  expect(requested).toBe(2);
  expect(sandbox.state.contacts.map(({ email }) => email)).toEqual([victim, other]);
  const rows = ["k\u212A@example.com", "kk@example.com"].map((email) => ({ email }));
  await client.contacts.import(rows, { addToList: id });
  expect(sandbox.state.contacts.filter(({ listIds }) => listIds.includes(id))).toHaveLength(4);
});

test("an address in any case finds the lower-case contact, also where search is exact", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const exact = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const wanted = new URL(url).searchParams.get("search");
    const isOther = wanted !== null && !sandbox.state.contacts.some(({ email }) => email === wanted);
    return isOther
      ? Response.json({ data: [], total: 0, skip: 0, limit: 50 })
      : await sandbox.fetch(url, init);
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: exact, limits: false });
  const { id } = await client.contacts.create({ email: victim, name: "Kate" });
  expect((await client.contacts.find("KATE@Example.com"))?.id).toBe(id);
  const { created, contact } = await client.contacts.upsert({ email: "Kate@example.com", name: "Cate" });
  expect({ created, id: contact.id, name: contact.name }).toEqual({ created: false, id, name: "Cate" });
});
