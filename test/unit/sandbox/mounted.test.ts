import { Hono } from "hono";
import { expect, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

const baseUrl = "http://localhost:3000/api/touchpoint";
type Handler = (request: Request) => Promise<Response>;

const clientOf = (handler: Handler) =>
  new Client({ apiKey: "test-key", baseUrl, fetch: (input, init) => handler(new Request(input, init)) });

/** What Next.js, which test/runtimes builds and starts, calls of `app/api/touchpoint/[...path]/route.ts`: the export named after the method, with a context. */
const nextRoute = ({ fetch }: { readonly fetch: typeof globalThis.fetch }): Handler => {
  const route = { GET: fetch, POST: fetch, PATCH: fetch, DELETE: fetch };
  return (request) => {
    const path = new URL(request.url).pathname.split("/").slice(3);
    const context = { params: Promise.resolve({ path }) };
    // Next.js passes its context where fetch has its init.
    return route[request.method as keyof typeof route](request, context as RequestInit);
  };
};

const honoRoute = (sandbox: { readonly fetch: typeof globalThis.fetch }): Handler => {
  const app = new Hono().all("/api/touchpoint/*", (c) => sandbox.fetch(c.req.raw));
  return async (request) => app.fetch(request);
};

test.each([
  ["Next.js", nextRoute],
  ["Hono", honoRoute],
])("as a route handler of %s it answers below its base URL", async (_, mount) => {
  const sandbox = createSandbox({ apiKeys: ["test-key"], baseUrl });
  await using client = clientOf(mount(sandbox));
  const { id } = await client.contacts.create({ email: "ada@example.com" });
  await client.contacts.update(id, { name: "Ada" });
  expect(await client.contacts.find("ada@example.com")).toMatchObject({ id, name: "Ada" });
  expect(sandbox.state.requests.map(({ path }) => path)).toEqual([
    "/api/v1/contacts",
    `/api/v1/contacts/${id}`,
    "/api/v1/contacts",
  ]);
});

test("each instance has records of its own", async () => {
  const [one, other] = [0, 1].map(() => createSandbox({ apiKeys: ["test-key"], baseUrl }));
  if (one === undefined || other === undefined) throw new Error("two sandboxes were made");
  await using client = clientOf(honoRoute(one));
  await client.contacts.create({ email: "ada@example.com" });
  expect([one.state.contacts.length, other.state.contacts.length]).toEqual([1, 0]);
});
