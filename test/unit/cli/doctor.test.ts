import { describe, expect, test } from "vitest";
import { describeDiagnosis, diagnose } from "../../../src/cli/doctor.ts";
import { AuthenticationError, Client } from "../../../src/index.ts";
import { createSandbox, type Sandbox } from "../../../src/sandbox/index.ts";

interface Body {
  readonly [field: string]: unknown;
  readonly data?: readonly Record<string, unknown>[];
}

/** What is told in place of the sandbox's answer, by path and query; undefined leaves it. */
type Plant = (path: string, body: Body, query: URLSearchParams) => Response | object | undefined;

const seeded = (contacts = 7): Sandbox => {
  const sandbox = createSandbox({ apiKeys: ["key"] });
  sandbox.seedContacts(contacts);
  return sandbox;
};

const examine = async (plant: Plant = () => undefined, sandbox = seeded(), domain?: string) => {
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://127.0.0.1:1",
    fetch: async (input, init) => {
      const answer = await sandbox.fetch(input, init);
      const { pathname, searchParams } = new URL(input);
      // The sandbox answers every GET with an object.
      const body = (await answer.clone().json()) as Body;
      const planted = plant(pathname, body, searchParams);
      if (planted === undefined) return answer;
      return planted instanceof Response ? planted : Response.json(planted, { headers: answer.headers });
    },
  });
  return diagnose(client, new AbortController().signal, domain);
};

const onContacts =
  (change: (body: Body, query: URLSearchParams) => object | undefined): Plant =>
  (path, body, query) =>
    path === "/api/v1/contacts" ? change(body, query) : undefined;
const everyContact = (change: (contact: Record<string, unknown>) => object): Plant =>
  onContacts((body) => ({ ...body, data: body.data?.map(change) }));

describe("a service as documented", () => {
  test("has no differences, and gets only a few GETs", async () => {
    const sandbox = seeded();
    const found = await examine(undefined, sandbox);
    expect(found.differs).toEqual([]);
    expect(found.routes).toEqual({});
    expect(new Set(sandbox.state.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(sandbox.state.requests.length).toBeLessThanOrEqual(12);
  });

  test("more contacts than fit a page, none, and one are as documented too", async () => {
    for (const contacts of [450, 0, 1])
      expect([contacts, (await examine(undefined, seeded(contacts))).differs]).toEqual([contacts, []]);
    expect((await examine(undefined, seeded(0))).notes).toContain(
      "contacts.list: the response has no record, so no record was compared",
    );
  });

  test("its companies and scheduled emails are compared where there are some", async () => {
    const sandbox = seeded();
    const client = new Client({ apiKey: "key", baseUrl: "http://127.0.0.1:1", fetch: sandbox.fetch });
    await client.companies.create({ companyName: "Ours", domain: "ours.example" });
    const email = {
      to: "ada@example.com",
      subject: "Hi",
      text: "Hi",
      sendAt: new Date(Date.now() + 3_600_000),
    };
    await client.emails.schedule(email);
    const found = await examine(undefined, sandbox, "Ours.example");
    expect(found.differs).toEqual([]);
    expect(found.notes.filter((text) => text.includes("compared"))).toEqual([]);
    expect((await examine(undefined, sandbox, "theirs.example")).differs).toEqual([
      "companies.findByDomain: finds no company with the domain theirs.example",
    ]);
  });

  test("the key is wrong: it ends at once", async () => {
    const sandbox = createSandbox({ apiKeys: ["another"] });
    await expect(examine(undefined, sandbox)).rejects.toThrow(AuthenticationError);
    expect(sandbox.state.requests).toHaveLength(1);
  });
});

describe("planted differences of the list of contacts:", () => {
  test.each<[string, Plant, string]>([
    [
      "another type",
      everyContact((contact) => ({ ...contact, verified: "yes" })),
      "verified must be boolean, is string",
    ],
    [
      "a number as id",
      everyContact((contact) => ({ ...contact, id: Number(String(contact.id).replace(/\D/g, "") || 1) })),
      "id must be string, is number",
    ],
    [
      "a field that is gone",
      everyContact(({ stage: _stage, ...contact }) => contact),
      "stage must be string, is missing",
    ],
    [
      "another envelope",
      onContacts(({ data, total }) => ({ items: data, count: total })),
      "its response is not a page { data, total, skip, limit }",
    ],
    [
      "a bare array",
      onContacts(({ data }) => data),
      "its response is not a page { data, total, skip, limit }",
    ],
    [
      "no page size",
      onContacts(({ limit: _limit, ...body }) => body),
      "requested limit 200, but the page has no limit",
    ],
    [
      "another size",
      onContacts((body) => ({ ...body, limit: 20 })),
      "requested limit 200, but the page has 20",
    ],
    [
      "smaller pages",
      onContacts((body) => ({ ...body, data: body.data?.slice(0, 3) })),
      "the page at skip 0 must have 7 of 7 records, but it has 3",
    ],
    [
      "a total that is too large",
      onContacts((body) => ({ ...body, total: 9 })),
      "the page at skip 0 must have 9 of 9 records, but it has 7",
    ],
    [
      "skip ignored",
      onContacts((body, query) =>
        query.get("skip") === "3" ? { ...body, data: Array(4).fill(body.data?.[0]) } : undefined,
      ),
      "a request with skip=3 does not return the same records, in the same order, as the first request did from record 3 on. If contacts were added or deleted meanwhile, run doctor again",
    ],
    [
      "an order that changes",
      onContacts((body, query) =>
        query.get("skip") === "3" ? { ...body, data: body.data?.toReversed() } : undefined,
      ),
      "a request with skip=3 does not return the same records, in the same order, as the first request did from record 3 on. If contacts were added or deleted meanwhile, run doctor again",
    ],
    [
      "a record twice",
      onContacts((body) => ({ ...body, data: body.data?.map((_, index) => body.data?.[index >> 1]) })),
      "a request with skip=3 does not return the same records, in the same order, as the first request did from record 3 on. If contacts were added or deleted meanwhile, run doctor again",
    ],
    [
      "a search that finds nobody",
      onContacts((body, query) => (query.has("search") ? { ...body, data: [], total: 0 } : undefined)),
      "search does not find a contact by its email, so find and upsert do not work",
    ],
    [
      "a status",
      onContacts(() => Response.json({ error: "No." }, { status: 403 })),
      "the status is 403, not 200",
    ],
    [
      "no JSON",
      onContacts(() => new Response("<p>", { headers: { "content-type": "text/html" } })),
      "its response is not a page { data, total, skip, limit }",
    ],
  ])("%s", async (_name, plant, text) => {
    expect((await examine(plant)).differs).toContain(`contacts.list: ${text}`);
  });

  test("unknown fields are worth knowing, and no difference", async () => {
    let count = 0;
    const found = await examine(
      everyContact((contact) => ({ ...contact, score: 1, ownerId: `o${count++}` })),
    );
    expect(found.differs).toEqual([]);
    expect(found.notes).toContain("contacts.list: the records have undocumented fields: ownerId, score");
  });
});

const notFound = () => Response.json({ error: "There is no such endpoint." }, { status: 404 });

describe("planted differences of inferred paths:", () => {
  const leads: Plant = (path, _body) => {
    if (path === "/api/v1/contacts" || path.startsWith("/api/v1/emails")) return undefined;
    return path === "/api/v1/leads" ? { data: [], total: 0, skip: 0, limit: 50 } : notFound();
  };

  test("companies live under the document's other word: it prints the routes to paste", async () => {
    const found = await examine(leads);
    expect(found.differs).toEqual([
      "companies.findByDomain: the service has no /api/v1/companies, but it has /api/v1/leads",
    ]);
    expect(found.routes).toEqual({
      "companies.findByDomain": "/api/v1/leads",
      "companies.create": "/api/v1/leads",
    });
    const text = describeDiagnosis(found);
    expect(text).toContain(
      'routes: {"companies.findByDomain":"/api/v1/leads","companies.create":"/api/v1/leads"}',
    );
    // As they are printed, the client takes them.
    new Client({ apiKey: "key", baseUrl: "http://127.0.0.1:1", routes: found.routes });
  });

  test.each<[string, Plant, string[]]>([
    [
      "no companies at all",
      (path) => (/companies|leads/.test(path) ? notFound() : /doctor/.test(path) ? notFound() : undefined),
      ["companies.findByDomain: the service has neither /api/v1/companies nor /api/v1/leads"],
    ],
    [
      "a status of companies",
      (path) => (path === "/api/v1/companies" ? Response.json({ error: "No." }, { status: 403 }) : undefined),
      ["companies.findByDomain: the status is 403, not 200 or 404"],
    ],
    [
      "another method",
      (path) =>
        path.endsWith("/scheduled")
          ? Response.json({ error: "No." }, { status: 405, headers: { allow: "POST" } })
          : undefined,
      ["emails.scheduled.list: the status is 405, not 200"],
    ],
    [
      "a bare array of emails",
      (path) => (path.endsWith("/scheduled") ? Response.json([]) : undefined),
      ["emails.scheduled.list: its response is not a page { data, total, skip, limit }"],
    ],
    [
      "an email without status",
      (path, body) =>
        path.endsWith("/scheduled")
          ? { ...body, total: 1, data: [{ id: "s", sendAt: "2026-01-01T00:00:00Z" }] }
          : undefined,
      ["emails.scheduled.list: status must be string, is missing"],
    ],
    [
      "no scheduled emails",
      (path) => (/doctor|scheduled/.test(path) ? notFound() : undefined),
      ["emails.scheduled.list: the status is 404, not 200"],
    ],
  ])("%s", async (_name, plant, texts) => {
    expect((await examine(plant)).differs).toEqual(texts);
  });

  test("a server that answers every path: nothing is reported about its paths", async () => {
    const found = await examine((path) => (/doctor|leads/.test(path) ? Response.json({}) : undefined));
    expect(found.differs).toEqual([]);
  });
});

test("no value of a record is shown, only its type", async () => {
  const sandbox = seeded(0);
  sandbox.addContact({ email: "secret.person@example.com", name: "Secret Person", notes: "private" });
  const found = await examine(
    everyContact((contact) => ({ ...contact, listIds: "secret", verified: 7 })),
    sandbox,
  );
  expect(found.differs).toHaveLength(2);
  expect(JSON.stringify(found) + describeDiagnosis(found)).not.toMatch(/secret|private/i);
});
