import { describe, expect, test } from "vitest";
import { open } from "./client.ts";

const ada = { email: "ada@example.com", name: "Ada" };

describe("creating a contact", () => {
  test("answers the contact with the service's own fields", async () => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", "/api/v1/contacts", ada);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: sandbox.state.contacts[0]?.id,
      email: "ada@example.com",
      name: "Ada",
      stage: "NEW",
      source: "MANUAL",
      verified: false,
      customFields: {},
      listIds: [],
      createdAt: "2026-03-01T12:00:00.000Z",
      updatedAt: "2026-03-01T12:00:00.000Z",
    });
  });

  test("an address that exists, in any case, is a 409", async () => {
    const { call, sandbox } = open();
    await call("POST", "/api/v1/contacts", ada);
    const { status, body } = await call("POST", "/api/v1/contacts", { email: "ADA@example.com" });
    expect([status, body]).toEqual([409, { error: "Another contact already has this email." }]);
    expect(sandbox.state.contacts).toHaveLength(1);
  });

  test.each([
    [{}, "email is missing."],
    [{ email: "nobody" }, "email is not a valid email address."],
    [{ email: 7 }, "email is not a valid email address."],
    [{ ...ada, name: 7 }, "name must be a string."],
    [{ ...ada, verified: "yes" }, "verified must be true or false."],
    [{ ...ada, leadId: "co_none" }, "leadId is not a company of this workspace."],
    [{ ...ada, listIds: ["li_none"] }, "listIds contains an id that is not a list of this workspace."],
    [{ ...ada, customFields: [] }, "customFields must be an object."],
    [{ ...ada, notes: 7 }, "notes must be a string or null."],
    [[], "The body must be a JSON object."],
  ])("%j is a 400 that names the field", async (input, error) => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", "/api/v1/contacts", input);
    expect([status, body]).toEqual([400, { error }]);
    expect(sandbox.state.contacts).toEqual([]);
  });
});

describe("listing contacts", () => {
  const emails = (body: unknown) =>
    // The page is checked as a whole in the first test.
    (body as { data: { email: string }[] }).data.map(({ email }) => email);

  test("answers a page with total, skip and limit, oldest first", async () => {
    const { call, sandbox } = open();
    sandbox.seedContacts(7);
    const { status, body } = await call("GET", "/api/v1/contacts?skip=2&limit=3");
    expect(status).toBe(200);
    expect(body).toEqual({ data: sandbox.state.contacts.slice(2, 5), total: 7, skip: 2, limit: 3 });
  });

  test("a page holds 50 when no limit is given", async () => {
    const { call, sandbox } = open();
    sandbox.seedContacts(60);
    const { body } = await call("GET", "/api/v1/contacts");
    expect(body).toMatchObject({ total: 60, skip: 0, limit: 50 });
    expect(emails(body)).toHaveLength(50);
  });

  test("newest first pages from the other end", async () => {
    const { call, sandbox } = open({ order: "newest-first" });
    sandbox.seedContacts(5, (index) => ({ email: `p${index}@example.com` }));
    const first = await call("GET", "/api/v1/contacts?limit=2");
    const last = await call("GET", "/api/v1/contacts?skip=4&limit=2");
    const beyond = await call("GET", "/api/v1/contacts?skip=9&limit=2");
    expect(emails(first.body)).toEqual(["p4@example.com", "p3@example.com"]);
    expect(emails(last.body)).toEqual(["p0@example.com"]);
    expect(emails(beyond.body)).toEqual([]);
  });

  test.each(["limit=0", "limit=201", "limit=x", "limit=1.5", "skip=-1", "skip="])(
    "%s is a 400",
    async (query) => {
      const { call } = open();
      expect((await call("GET", `/api/v1/contacts?${query}`)).status).toBe(400);
    },
  );

  test("a search finds part of an address or a name, in any case", async () => {
    const { call, sandbox } = open();
    for (const email of ["ada@example.com", "bob@example.org", "zada@example.com"]) {
      sandbox.addContact({ email, name: email.slice(0, 3) });
    }
    expect(emails((await call("GET", "/api/v1/contacts?search=ADA@")).body)).toEqual([
      "ada@example.com",
      "zada@example.com",
    ]);
    expect(emails((await call("GET", "/api/v1/contacts?search=bob")).body)).toEqual(["bob@example.org"]);
  });

  test("a search for a whole address finds it alone", async () => {
    const { call, sandbox } = open();
    for (const email of ["ada@example.com", "zada@example.com"]) sandbox.addContact({ email });
    const { body } = await call("GET", "/api/v1/contacts?search=ada%40example.com");
    expect(emails(body)).toEqual(["ada@example.com"]);
  });

  test("a removed contact leaves the page, the index and the total", async () => {
    const { call, sandbox } = open();
    sandbox.seedContacts(3);
    const gone = sandbox.state.contacts[1];
    expect(sandbox.removeContact(gone?.id ?? "")).toBe(true);
    expect(sandbox.removeContact(gone?.id ?? "")).toBe(false);
    expect((await call("GET", `/api/v1/contacts?search=${gone?.email}`)).body).toMatchObject({ total: 0 });
    expect((await call("GET", "/api/v1/contacts")).body).toMatchObject({ total: 2 });
    expect((await call("PATCH", `/api/v1/contacts/${gone?.id}`, {})).status).toBe(404);
  });
});

describe("updating a contact", () => {
  const withAda = (options = {}) => {
    const opened = open(options);
    const contact = opened.sandbox.addContact({
      ...ada,
      title: "Countess",
      customFields: { plan: "free", seats: 3 },
    });
    return { ...opened, contact, path: `/api/v1/contacts/${contact.id}` };
  };

  test("only fields sent are changed, and updatedAt", async () => {
    const { call, path, contact, sandbox } = withAda();
    const before = { ...contact };
    sandbox.advance(1_000);
    const { status, body } = await call("PATCH", path, { stage: "REPLIED" });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, stage: "REPLIED", updatedAt: "2026-03-01T12:00:01.000Z" });
  });

  test("custom fields merge key by key, null clears", async () => {
    const { call, path } = withAda();
    const { body } = await call("PATCH", path, { customFields: { plan: null, city: "London" } });
    expect(body).toMatchObject({ customFields: { seats: 3, city: "London" } });
    expect(body).not.toHaveProperty("customFields.plan");
  });

  test.each([
    [{ customFields: { color: "red" } }, "customFields.color is not a field of this workspace."],
    [{ customFields: { seats: "three" } }, "customFields.seats must be a number."],
    [{ customFields: { plan: 1 } }, "customFields.plan must be a string."],
    [{ customFields: { since: "soon" } }, "customFields.since must be an ISO 8601 time."],
    [
      { customFields: JSON.parse('{"__proto__": 1}') },
      "customFields.__proto__ is not a field of this workspace.",
    ],
    [{ stage: "" }, "stage must be a string that is not empty."],
    [{ email: "x" }, "email is not a valid email address."],
  ])("%j is a 400 and changes nothing", async (patch, error) => {
    const customFields = { plan: "text", seats: "number", since: "date" };
    const { call, path, contact } = withAda({ customFields });
    const before = { ...contact };
    const { status, body } = await call("PATCH", path, { name: "X", ...patch });
    expect([status, body]).toEqual([400, { error }]);
    expect(contact).toEqual(before);
  });

  test("a date is a day, or a time with a zone", async () => {
    const { call, path } = withAda({ customFields: { since: "date" } });
    const statusOf = async (since: string) => (await call("PATCH", path, { customFields: { since } })).status;
    expect(await Promise.all(["2026-01-01", "2026-01-01T09:00:00+02:00"].map(statusOf))).toEqual([200, 200]);
    expect(await Promise.all(["2026-02-31", "2026-01", "2026-01-01T09:00:00"].map(statusOf))).toEqual([
      400, 400, 400,
    ]);
  });

  test("an unknown id is a 404, also one of another workspace", async () => {
    const { call, sandbox } = open({ workspaces: { other: {} } });
    const other = sandbox.addContact(ada, "other");
    expect((await call("PATCH", "/api/v1/contacts/ct_none", {})).status).toBe(404);
    expect((await call("PATCH", `/api/v1/contacts/${other.id}`, {})).status).toBe(404);
  });

  test("another contact's address is a 409, one's own in another case is not", async () => {
    const { call, sandbox, path } = withAda();
    sandbox.addContact({ email: "bob@example.com" });
    expect((await call("PATCH", path, { email: "BOB@example.com" })).status).toBe(409);
    expect((await call("PATCH", path, { email: "ADA@example.com" })).status).toBe(200);
  });

  test("a changed address is found under the new one only", async () => {
    const { call, path } = withAda();
    await call("PATCH", path, { email: "countess@example.com" });
    expect((await call("GET", "/api/v1/contacts?search=countess@example.com")).body).toMatchObject({
      total: 1,
    });
    expect((await call("GET", "/api/v1/contacts?search=ada@example.com")).body).toMatchObject({ total: 0 });
  });
});
