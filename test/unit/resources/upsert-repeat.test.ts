import { beforeAll, expect, test } from "vitest";
import { type Served, served } from "./served.ts";

beforeAll(() => import("p-retry"));

const email = "ada@example.com";
const ada = { id: "c1", email, name: "Ada" };
const input = { email, name: "Ada" };
const pageOf = (...data: readonly object[]) => ({ data, total: data.length, skip: 0, limit: 200 });
const lost = new TypeError("fetch failed");
const methods = ({ requests }: ReturnType<typeof served>) => requests.map(({ method }) => method);

test.each<[string, Served]>([
  ["lost", lost],
  ["500", [500, {}]],
  ["503", [503, {}]],
])("an upsert makes a creation again whose answer was %s", async (_what, answer) => {
  const scene = served([answer, [201, ada]]);
  const upserted = await scene.clock.until(scene.client.contacts.upsert(input));
  expect([upserted, methods(scene)]).toEqual([{ contact: ada, created: true }, ["POST", "POST"]]);
});

test("a repeated creation that clashes with the first becomes the update", async () => {
  const scene = served([lost, [409, { error: "email exists" }], [200, pageOf(ada)], [200, ada]]);
  const upserted = await scene.clock.until(scene.client.contacts.upsert(input));
  expect(upserted).toEqual({ contact: ada, created: false });
  expect(methods(scene)).toEqual(["POST", "POST", "GET", "PATCH"]);
});

test("the update of an upsert sends what was given to the call", async () => {
  const scene = served([
    [409, { error: "email exists" }],
    [200, pageOf({ ...ada, name: "A" })],
    [200, ada],
  ]);
  const given = { email, name: "Ada" };
  const upserting = scene.client.contacts.upsert(given);
  given.email = "bob@example.com";
  given.name = "Bob";
  await scene.clock.until(upserting);
  expect(scene.requests.map(({ path }) => path.includes("bob"))).toEqual([false, false, false]);
  expect(scene.requests.map(({ body }) => body)).toEqual([
    input,
    undefined,
    expect.objectContaining({ name: "Ada" }),
  ]);
});

test("an upsert waits as long as the failure of its creation asks before it makes it again", async () => {
  const busy: Served = async () => Response.json({}, { status: 500, headers: { "retry-after": "7" } });
  const { client, clock } = served([busy, [201, ada]]);
  await clock.until(client.contacts.upsert(input));
  expect(clock.now()).toBe(7_000);
});

test("an upsert gives up as unknown after its repeats and a search that finds nobody", async () => {
  const scene = served(
    [
      [500, {}],
      [500, {}],
      [500, {}],
      [200, pageOf()],
    ],
    { maxRetries: 2 },
  );
  const upserting = scene.clock.until(scene.client.contacts.upsert(input));
  await expect(upserting).rejects.toMatchObject({ outcome: "unknown", status: 500 });
  expect(methods(scene)).toEqual(["POST", "POST", "POST", "GET"]);
});

test("one unclear creation does not end an import", async () => {
  const rows = ["a@x.example", "b@x.example"].map((address) => ({ email: address }));
  const { client, clock } = served([
    [200, { data: [], total: 0 }],
    [503, {}],
    ...rows.map((row): Served => [201, { id: row.email, ...row }]),
  ]);
  await import("../../../src/bulk/import.ts");
  expect(await clock.until(client.contacts.import(rows))).toMatchObject({ read: 2, created: 2, unknown: 0 });
});

test("a creation by itself is never repeated where it may have happened", async () => {
  const scene = served([[500, {}]]);
  await expect(scene.client.contacts.create(input)).rejects.toMatchObject({ outcome: "unknown" });
  expect(methods(scene)).toEqual(["POST"]);
});
