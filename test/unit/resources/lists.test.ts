import { expect, test } from "vitest";
import type { TouchpointError } from "../../../src/index.ts";
import { type Served, served } from "./served.ts";

const addresses = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}@example.com`);

const failureOf = (promise: Promise<unknown>): Promise<TouchpointError> =>
  promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: TouchpointError) => error,
  );

/** Answers that come together, a turn of the event loop after all were asked for: one request too many begins before. */
const together = (answers: readonly (readonly [status: number, body: object])[]): readonly Served[] => {
  let [asked, open] = [0, (): void => {}];
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return answers.map(([status, body]) => async () => {
    asked += 1;
    if (asked === answers.length) setImmediate(open);
    await all;
    return new Response(JSON.stringify(body), { status });
  });
};

test("a list is created by its name", async () => {
  const { client, requests } = served([[201, { list: { listId: "li-1", name: "Readers" } }]]);
  expect(await client.lists.create({ name: "Readers" })).toMatchObject({ id: "li-1", name: "Readers" });
  expect(requests).toEqual([{ method: "POST", path: "/api/v1/lists", body: { name: "Readers" } }]);
});

test("a lost create is not repeated", async () => {
  const { client } = served([new Error("socket hang up")]);
  await expect(client.lists.create({ name: "Readers" })).rejects.toMatchObject({ outcome: "unknown" });
});

test("addresses go out 1,000 a request, and each answer comes back in its place", async () => {
  const { client, requests } = served([[200, { added: 1_000 }], [200, { added: 1_000 }], [204]]);
  const emails = addresses(2_001);
  expect(await client.lists.addContacts("li-1", emails)).toEqual({
    requested: 2_001,
    calls: 3,
    responses: [{ added: 1_000 }, { added: 1_000 }, undefined],
  });
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(3).fill("POST /api/v1/lists/li-1/contacts"),
  );
  expect(requests.flatMap(({ body }) => (body as { emails: string[] }).emails)).toEqual(emails);
});

test("removing sends a DELETE with the addresses", async () => {
  const { client, requests } = served([[200, { removed: 1 }]]);
  await client.lists.removeContacts("li-1", ["ada@example.com"]);
  expect(requests).toEqual([
    { method: "DELETE", path: "/api/v1/lists/li-1/contacts", body: { emails: ["ada@example.com"] } },
  ]);
});

const sources: readonly [
  string,
  (emails: readonly string[]) => AsyncIterable<string> | Set<string> | string[],
][] = [
  ["an array", (emails) => [...emails]],
  ["a set", (emails) => new Set(emails)],
  [
    "an async generator",
    async function* (emails) {
      yield* emails;
    },
  ],
];

test.each(sources)("an address that appears twice in %s, in any case, is sent once", async (_kind, from) => {
  const { client, requests } = served([[200, {}]]);
  const source = from(["ada@example.com", "bob@example.com", "ADA@Example.com"]);
  expect(await client.lists.addContacts("li-1", source)).toMatchObject({ requested: 2, calls: 1 });
  expect(requests[0]?.body).toEqual({ emails: ["ada@example.com", "bob@example.com"] });
});

test.each(sources)("nothing is sent for %s without addresses", async (_kind, from) => {
  const { client } = served([]);
  expect(await client.lists.addContacts("li-1", from([]))).toEqual({ requested: 0, calls: 0, responses: [] });
});

test.each(sources)("every fault of %s is named, and nothing is sent", async (_kind, from) => {
  const { client, requests } = served([]);
  const emails = [...addresses(1_500), "nobody", 7 as unknown as string];
  await expect(client.lists.addContacts("li-1", from(emails))).rejects.toMatchObject({
    name: "ValidationError",
    issues: [
      { path: "emails[1500]", message: "must be one email address such as ada@example.com" },
      { path: "emails[1501]", message: "must be an email address (a string)" },
    ],
  });
  expect(requests).toEqual([]);
});

test.each(["ada@example.com", undefined, 7, {}])("%j is no list of addresses", async (emails) => {
  const { client } = served([]);
  await expect(client.lists.addContacts("li-1", emails as string[])).rejects.toThrow(
    "lists.addContacts: emails: must be an array or an (async) iterable of email addresses",
  );
});

test("when one request of several fails, `partial` says which addresses went through", async () => {
  const { client } = served(
    together([
      [200, { added: 1 }],
      [404, { error: "No list." }],
      [200, { added: 3 }],
    ]),
  );
  const emails = addresses(2_500);
  const error = await failureOf(client.lists.addContacts("li-1", emails));
  expect(error).toMatchObject({ name: "NotFoundError", message: "No list." });
  expect(error.partial).toEqual({
    results: [{ added: 1 }, { added: 3 }],
    done: [...emails.slice(0, 1_000), ...emails.slice(2_000)],
    left: emails.slice(1_000, 2_000),
  });
});

test("four requests are under way at most, and after a failure no further one begins", async () => {
  const refused: readonly [number, object] = [404, { error: "No list." }];
  const { client, requests } = served([...together(Array(4).fill(refused)), ...Array(5).fill(refused)]);
  const emails = addresses(9_000);
  const error = await failureOf(client.lists.removeContacts("li-1", emails));
  expect(error.partial).toEqual({ results: [], done: [], left: emails });
  expect(requests).toHaveLength(4);
});

test("the one request that failed keeps the service's own sentence", async () => {
  const { client } = served([[404, { error: "No list." }]]);
  const error = await failureOf(client.lists.addContacts("li-1", ["ada@example.com"]));
  expect(error.message).toBe("No list.");
  expect(error.partial).toEqual({ results: [], done: [], left: ["ada@example.com"] });
});

test("a source that fails is heard as it is, and nothing is sent", async () => {
  const { client, requests } = served([]);
  const fault = new Error("file gone");
  const source = async function* () {
    yield* addresses(1_000);
    throw fault;
  };
  await expect(client.lists.addContacts("li-1", source())).rejects.toBe(fault);
  expect(requests).toEqual([]);
});

test("membership is repeated after a lost response", async () => {
  const { client, clock, requests } = served([new Error("socket hang up"), [200, {}]]);
  await clock.until(client.lists.addContacts("li-1", ["ada@example.com"]));
  expect(requests).toHaveLength(2);
});
