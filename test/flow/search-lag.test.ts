import { beforeAll, expect, test } from "vitest";
import { Client, ConflictError, type RejectedContact } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

// Loaded in the middle of a run; time that only a test moves would run on meanwhile.
beforeAll(() => import("../../src/bulk/import.ts"));

/** A service whose search and list show a new contact only after `lagMs`. */
const laggingService = (lagMs: number) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const clock = new FakeClock();
  const createdAt = new Map<string, number>();
  const log: string[] = [];
  const fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const response = await sandbox.fetch(url, init);
    const { email }: { email?: string } = typeof init.body === "string" ? JSON.parse(init.body) : {};
    const method = init.method ?? "GET";
    const search = new URL(url).searchParams.get("search");
    log.push([method, response.status, search ?? email ?? ""].join(" "));
    if (method === "POST" && response.status < 300 && email !== undefined) createdAt.set(email, clock.now());
    if (method !== "GET") return response;
    // The sandbox's page of contacts.
    const page = (await response.json()) as { data: readonly { email: string }[]; total: number };
    const data = page.data.filter((one) => clock.now() >= (createdAt.get(one.email) ?? 0) + lagMs);
    return Response.json({ ...page, data, total: page.total - (page.data.length - data.length) });
  };
  const options = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false } as const;
  const client = new Client(options, { clock, random: () => 0.5 });
  return { client, clock, sandbox, log };
};

const names = ({ sandbox }: ReturnType<typeof laggingService>) =>
  Object.fromEntries(sandbox.state.contacts.map(({ email, name }) => [email, name]));

test.each([0, 400, 3_000, 8_000])(
  "an upsert updates a contact that search shows %i ms after its creation",
  async (lagMs) => {
    const service = laggingService(lagMs);
    const { client, clock } = service;
    await client.contacts.create({ email: "ada@example.com", name: "Ada" });
    const upserting = client.contacts.upsert({ email: "ada@example.com", name: "Ada Lovelace" });
    expect((await clock.until(upserting)).created).toBe(false);
    expect(names(service)).toEqual({ "ada@example.com": "Ada Lovelace" });
    expect(clock.now()).toBeLessThan(lagMs + 2_100);
  },
);

test("an upsert whose contact stays out of search for 10 s says that the contact exists", async () => {
  const { client, clock, log } = laggingService(60_000);
  await client.contacts.create({ email: "ada@example.com" });
  const upserting = client.contacts.upsert({ email: "ada@example.com", name: "Ada" });
  const error = await clock.until(upserting.catch((thrown: unknown) => thrown));
  expect(error).toBeInstanceOf(ConflictError);
  expect(error).toMatchObject({
    operation: "contacts.create",
    outcome: "not-applied",
    status: 409,
    hint: expect.stringContaining("a contact has this address, but search does not show it yet"),
  });
  expect(clock.now()).toBeGreaterThan(8_000);
  expect(clock.now()).toBeLessThanOrEqual(10_000);
  expect(log.length).toBeLessThan(25);
});

test("an upsert asks no longer than its totalTimeoutMs allows, and ends with the conflict", async () => {
  const { client, clock } = laggingService(60_000);
  await client.contacts.create({ email: "ada@example.com" });
  const upserting = client.contacts.upsert({ email: "ada@example.com" }, { totalTimeoutMs: 2_000 });
  await expect(clock.until(upserting)).rejects.toBeInstanceOf(ConflictError);
  expect(clock.now()).toBeLessThanOrEqual(2_000);
});

const rowsOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => ({ email: `user-${at}@example.com`, name }));

test.each(["upsert", "create"] as const)(
  "an import, mode %s, goes on with other rows, and asks again for those that search does not show",
  async (mode) => {
    const service = laggingService(20_000);
    const { client, clock, log } = service;
    for (const row of rowsOf(2, "first")) await client.contacts.create(row);
    const report = await clock.until(
      client.contacts.import(rowsOf(30, "second"), {
        mode,
        concurrency: 1,
      }),
    );
    const counts = mode === "upsert" ? { updated: 2, skipped: 0 } : { updated: 0, skipped: 2 };
    expect(report).toMatchObject({ read: 30, created: 28, rejected: 0, unknown: 0, ...counts });
    expect(clock.now()).toBeLessThan(22_100);
    const name = mode === "upsert" ? "second" : "first";
    expect(names(service)).toMatchObject({ "user-0@example.com": name, "user-29@example.com": "second" });
    // The other rows of the batch do not wait.
    expect(log.indexOf("POST 201 user-24@example.com")).toBeLessThan(
      log.lastIndexOf("GET 200 user-0@example.com"),
    );
  },
);

test("all rows of an import that search does not show wait 30 s together, and are then refused", async () => {
  const { client, clock } = laggingService(600_000);
  for (const row of rowsOf(60, "first")) await client.contacts.create(row);
  const rejected: RejectedContact[] = [];
  const report = await clock.until(
    client.contacts.import(rowsOf(70, "second"), { onRejected: (one) => void rejected.push(one) }),
  );
  expect(report).toMatchObject({ read: 70, created: 10, rejected: 60, unknown: 0 });
  expect(clock.now()).toBeLessThanOrEqual(30_000);
  expect(rejected[0]).toMatchObject({ status: 409 });
  expect(rejected[0]?.error).toContain("a contact has this address, but search does not show it yet");
});

test("later rows of an address that search does not show wait for the earlier ones", async () => {
  const service = laggingService(5_000);
  const { client, clock } = service;
  await client.contacts.create({ email: "ada@example.com", name: "0" });
  const rows = ["1", "2", "3"].map((name) => ({ email: "ada@example.com", name }));
  const maxChanges = rows.length;
  const report = await clock.until(client.contacts.import(rows, { maxChanges }));
  expect(report).toMatchObject({ updated: 3, rejected: 0 });
  expect(names(service)).toEqual({ "ada@example.com": "3" });
});
