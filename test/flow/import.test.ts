import { expect, test } from "vitest";
import { Client, ConflictError, type ContactInput, type RejectedContact } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  });
  return { sandbox, client };
};

const people = (count: number): ContactInput[] =>
  Array.from({ length: count }, (_, i) => ({
    email: `p${i}@example.com`,
    name: `Person ${i}`,
    customFields: { n: i },
  }));

test("an import creates, updates, skips and rejects contacts, and reports which", async () => {
  const { sandbox, client } = service();
  await client.contacts.create({
    email: "P1@example.com",
    name: "Person 1",
    customFields: { n: 1, other: true },
  });
  await client.contacts.create({ email: "p2@example.com", name: "Somebody" });
  const rejected: RejectedContact[] = [];
  const source = [...people(4), { email: "nobody" }];

  const report = await client.contacts.import(source, { onRejected: (row) => void rejected.push(row) });

  expect(report).toEqual({
    read: 5,
    skipped: 0,
    created: 2,
    updated: 1,
    unchanged: 1,
    rejected: 1,
    unknown: 0,
    elapsedMs: expect.any(Number),
  });
  expect(rejected.map(({ index, status }) => ({ index, status }))).toEqual([{ index: 4, status: undefined }]);
  expect(sandbox.state.contacts.map(({ name }) => name).sort()).toEqual([
    "Person 0",
    "Person 1",
    "Person 2",
    "Person 3",
  ]);
});

test("an import continues after an empty response to a change", async () => {
  const { sandbox } = service();
  sandbox.seedContacts(30, (at) => ({ email: `p${at}@example.com` }));
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    limits: false,
    fetch: async (url: string, init: RequestInit) => {
      const response = await sandbox.fetch(url, init);
      return init.method === "PATCH" ? new Response(null, { status: 204 }) : response;
    },
  });
  expect(await client.contacts.import(people(40))).toMatchObject({ created: 10, updated: 30, unknown: 0 });
  expect(sandbox.state.contacts.filter(({ name }) => name?.startsWith("Person"))).toHaveLength(40);
});

test("a second import over the same rows sends no change", async () => {
  const { client } = service();
  await client.contacts.import(people(60));
  expect(await client.contacts.import(people(60))).toMatchObject({ created: 0, updated: 0, unchanged: 60 });
});

test("a source that yields one object again and again has each of its rows imported", async () => {
  const { sandbox, client } = service();
  const source = function* (): Generator<ContactInput> {
    const reused = { email: "", name: "" };
    for (const { email, name } of people(30)) yield Object.assign(reused, { email, name });
  };
  expect(await client.contacts.import(source())).toMatchObject({ read: 30, created: 30 });
  const names = sandbox.state.contacts.map(({ email, name }) => `${email} ${name}`);
  expect(names.sort()).toEqual(
    people(30)
      .map(({ email, name }) => `${email} ${name}`)
      .sort(),
  );
});

test("a creation whose response is lost is made again by an upsert, and ends as one contact", async () => {
  const { sandbox, client } = service();
  sandbox.fail({ operation: "contacts.create", with: "reset-after-apply" });
  const { contact } = await client.contacts.upsert({ email: "ada@example.com", name: "Ada" });
  expect(contact.name).toBe("Ada");
  expect(sandbox.state.contacts).toHaveLength(1);
});

test("rows of one address end as one contact with the last row's name", async () => {
  const { sandbox, client } = service();
  const rows = ["A", "B", "C"].map((name) => ({ email: "same@example.com", name }));
  await client.contacts.import(rows);
  expect(sandbox.state.contacts.map(({ name }) => name)).toEqual(["C"]);
});

test("a stopped import continues after its checkpoint", async () => {
  const { sandbox, client } = service();
  let stored: unknown;
  const checkpoint = {
    load: async () => stored,
    save: async (state: object) => {
      stored = state;
    },
  };
  const rows = people(120);
  async function* broken() {
    yield* rows.slice(0, 70);
    throw new Error("disk");
  }
  await expect(client.contacts.import(broken(), { checkpoint, concurrency: 1 })).rejects.toThrow("disk");
  const report = await client.contacts.import(rows, { checkpoint });
  expect(report.skipped).toBe(50);
  expect(sandbox.state.contacts).toHaveLength(120);
});

test("an abort whose reason is an error of the service's ends an import, and rejects no row", async () => {
  const abort = new AbortController();
  const reason = new ConflictError("mine", { status: 409, headers: new Headers(), body: undefined });
  const fetch = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      abort.abort(reason);
    });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const rejected: RejectedContact[] = [];
  const stored: object[] = [];
  const importing = client.contacts.import(people(3), {
    signal: abort.signal,
    checkpoint: { load: async () => undefined, save: async (state) => void stored.push(state) },
    onRejected: (row) => void rejected.push(row),
  });
  await expect(importing).rejects.toBe(reason);
  expect([rejected, stored]).toEqual([[], []]);
});

const additionsTo = (sandbox: ReturnType<typeof createSandbox>): number[] =>
  sandbox.state.requests
    .filter(({ operation }) => operation === "lists.addContacts")
    .map(({ body }) => Object(body).emails.length);

test("an import adds its contacts to a list in one go at the end, and no row that was refused", async () => {
  const { sandbox, client } = service();
  const { id } = await client.lists.create({ name: "Imported" });
  sandbox.fail({ operation: "contacts.create", nth: 30, with: { status: 400 } });
  const report = await client.contacts.import(people(80), { addToList: id });
  expect(report).toMatchObject({ created: 79, rejected: 1 });
  expect([additionsTo(sandbox), sandbox.state.requests.at(-1)?.operation]).toEqual([
    [79],
    "lists.addContacts",
  ]);
  const members = sandbox.state.contacts.filter(({ listIds }) => listIds.includes(id));
  expect(members).toHaveLength(79);
});

test.each([
  ["create", 6],
  ["update", 1],
  ["upsert", 6],
] as const)(
  "an import, mode %s, adds every row's contact to the list, also after a run that ended",
  async (mode, members) => {
    const { sandbox, client } = service();
    const { id } = await client.lists.create({ name: "Imported" });
    const rows = people(6);
    sandbox.addContact({ email: String(rows[1]?.email) });
    // The answer to the fourth creation is lost.
    if (mode === "create") sandbox.fail({ operation: "contacts.create", nth: 4, with: "reset-after-apply" });
    let stored: unknown;
    const checkpoint = {
      load: async () => stored,
      save: async (state: object) => {
        stored = JSON.parse(JSON.stringify(state));
      },
    };
    const options = { mode, checkpoint, addToList: id } as const;
    const importing = client.contacts.import(rows, options);
    if (mode === "create") {
      await expect(importing).rejects.toMatchObject({
        outcome: "unknown",
        partial: { report: { created: 3 } },
      });
      expect(await client.contacts.import(rows, options)).toMatchObject({ created: 1, skipped: 5 });
    } else await importing;
    expect(sandbox.state.contacts.filter(({ listIds }) => listIds.includes(id))).toHaveLength(members);
    expect(sandbox.state.contacts).toHaveLength(members);
  },
);

test("a list that cannot be filled ends an import, and the next changes nothing but fills it", async () => {
  const { sandbox, client } = service();
  const { id } = await client.lists.create({ name: "Imported" });
  let stored: unknown;
  const checkpoint = {
    load: async () => stored,
    save: async (state: object) => {
      stored = JSON.parse(JSON.stringify(state));
    },
  };
  const failing = client.contacts.import(people(80), { checkpoint, addToList: "nobody" });
  await expect(failing).rejects.toMatchObject({
    name: "NotFoundError",
    partial: { report: { created: 80 } },
  });
  const before = sandbox.state.requests.length;
  const report = await client.contacts.import(people(80), { checkpoint, addToList: id });
  // One reads the list of contacts, and one fills the list.
  expect([report.unchanged, sandbox.state.requests.length - before]).toEqual([80, 2]);
  expect(sandbox.state.contacts.every(({ listIds }) => listIds.includes(id))).toBe(true);
  await client.contacts.import(people(80), { checkpoint, addToList: id });
  expect(sandbox.state.requests.length - before).toBe(2);
});

test.each([8, 2])(
  "the last of an address's rows wins across batches, %i under way at once",
  async (concurrency) => {
    const { sandbox, client } = service();
    // Groups hold 25 addresses: each pair stands across the border of two.
    const rows = people(200).map((row, at) => {
      const pair = Math.floor((at + 1) / 25);
      return (at + 1) % 25 === 0 || at % 25 === 0
        ? { email: `${at % 2 ? "PAIR" : "pair"}${pair}@example.com`, name: `row ${at}` }
        : row;
    });
    await client.contacts.import(rows, { concurrency });
    const pairs = sandbox.state.contacts.filter(({ email }) => email.toLowerCase().startsWith("pair"));
    expect(pairs.map(({ name }) => name).sort()).toEqual(
      [0, 25, 50, 75, 100, 125, 150, 175, 199].map((at) => `row ${at}`).sort(),
    );
  },
);

test.each([
  ["no total", () => undefined],
  ["a total of 0", () => 0],
  ["the page's length as total", (length: number) => length],
])("an import reads the whole list of a service that gives %s", async (_what, totalOf) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const methods: (string | undefined)[] = [];
  const fetch: typeof sandbox.fetch = async (url, init) => {
    methods.push(init?.method);
    const response = await sandbox.fetch(url, init);
    if (init?.method !== "GET") return response;
    const page: { readonly data: readonly unknown[] } = JSON.parse(await response.text());
    return Response.json({ ...page, total: totalOf(page.data.length) });
  };
  const options = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false } as const;
  for (const { email } of people(450)) sandbox.addContact({ email });
  const report = await new Client(options).contacts.import(people(450), { mode: "update" });
  expect(report).toMatchObject({ updated: 450, skipped: 0 });
  expect(methods.filter((method) => method === "GET").length).toBeLessThanOrEqual(4);
});

test.each(["", "OK"])("a 201 with the body %j ends no import, mode create", async (text) => {
  const { sandbox } = service();
  const fetch = async (url: string, init: RequestInit = {}) => {
    const response = await sandbox.fetch(url, init);
    return response.status === 201 ? new Response(text, { status: 201 }) : response;
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const report = await client.contacts.import(people(3), { mode: "create" });
  expect(report).toMatchObject({ created: 3, unknown: 0 });
  expect(sandbox.state.contacts).toHaveLength(3);
});
