import { describe, expect, test } from "vitest";
import { open } from "./client.ts";

const event = { name: "x", contact: { email: "ada@example.com" } };
const email = { to: "ada@example.com", subject: "Hi", text: "Hello" };

describe("keys", () => {
  test.each([
    ["", "The API key is missing."],
    ["Basic sandbox-key", "The API key is missing."],
    ["Bearer nobody", "The API key is not valid."],
    ["Bearer revoked", "The API key has been revoked."],
    ["Bearer expired", "The API key has expired."],
  ])("authorization %j is a 401", async (authorization, error) => {
    const { call } = open({
      apiKeys: [
        "sandbox-key",
        { key: "revoked", revoked: true },
        { key: "expired", expiresAt: "2026-03-01T12:00:00Z" },
      ],
    });
    const reply = await call("GET", "/api/v1/contacts", undefined, { authorization });
    expect([reply.status, reply.body]).toEqual([401, { error }]);
  });

  test("a key expires on the sandbox's clock", async () => {
    const { call, sandbox } = open({ apiKeys: [{ key: "sandbox-key", expiresAt: "2026-03-01T12:00:01Z" }] });
    expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
    sandbox.advance(1_000);
    expect((await call("GET", "/api/v1/contacts")).status).toBe(401);
  });

  test("a key can be revoked while the sandbox runs", async () => {
    const { call, sandbox } = open();
    sandbox.updateKey("sandbox-key", { revoked: true });
    expect((await call("GET", "/api/v1/contacts")).status).toBe(401);
    sandbox.updateKey("sandbox-key", { revoked: false });
    expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
  });

  test.each([
    ["POST", "/api/v1/contacts", { email: "a@example.com" }, "contacts:write"],
    ["PATCH", "/api/v1/contacts/x", {}, "contacts:write"],
    ["POST", "/api/v1/companies", {}, "leads:write and contacts:write"],
    ["PATCH", "/api/v1/companies/x", {}, "leads:write"],
    ["POST", "/api/v1/lists", {}, "lists:write"],
    ["POST", "/api/v1/lists/x/contacts", {}, "lists:write and contacts:write"],
    ["DELETE", "/api/v1/lists/x/contacts", {}, "lists:write and contacts:write"],
    ["POST", "/api/v1/events", event, "events:write"],
    ["POST", "/api/v1/events/batch", { events: [event] }, "events:write"],
    ["POST", "/api/v1/emails", email, "email:write"],
  ])("%s %s without its scope is a 403", async (method, path, body, scope) => {
    const { call } = open({ apiKeys: [{ key: "sandbox-key", scopes: [] }] });
    const reply = await call(method, path, body);
    expect([reply.status, reply.body]).toEqual([403, { error: `The API key lacks the scope ${scope}.` }]);
  });

  test("the role of the key's creator can forbid writing, or only sending", async () => {
    const { call, sandbox } = open({ apiKeys: [{ key: "sandbox-key", role: "viewer" }] });
    const statuses = async () => [
      (await call("GET", "/api/v1/contacts")).status,
      (await call("POST", "/api/v1/events", event)).status,
      (await call("POST", "/api/v1/emails", email)).status,
    ];
    expect(await statuses()).toEqual([200, 403, 403]);
    sandbox.updateKey("sandbox-key", { role: "editor" });
    expect(await statuses()).toEqual([200, 202, 403]);
    sandbox.updateKey("sandbox-key", { role: "admin" });
    expect(await statuses()).toEqual([200, 202, 200]);
  });

  test.each([{ origin: "https://app.example" }, { "sec-fetch-site": "cross-site" }])(
    "with %j, as browsers send it, events and emails are a 403",
    async (headers) => {
      const { call } = open();
      expect((await call("POST", "/api/v1/events", event, headers)).status).toBe(403);
      expect((await call("POST", "/api/v1/events/batch", { events: [event] }, headers)).status).toBe(403);
      expect((await call("POST", "/api/v1/emails", email, headers)).status).toBe(403);
      expect((await call("GET", "/api/v1/contacts", undefined, headers)).status).toBe(200);
    },
  );

  test("sec-fetch-mode, which Node's own fetch sends, is no browser", async () => {
    const { call } = open();
    expect((await call("POST", "/api/v1/events", event, { "sec-fetch-mode": "cors" })).status).toBe(202);
  });

  test("each key acts inside its workspace", async () => {
    const { call, sandbox } = open({ apiKeys: ["sandbox-key", { key: "other", workspace: "other" }] });
    await call("POST", "/api/v1/contacts", { email: "ada@example.com" });
    const as = { authorization: "Bearer other" };
    expect((await call("POST", "/api/v1/contacts", { email: "ada@example.com" }, as)).status).toBe(201);
    expect((await call("GET", "/api/v1/contacts", undefined, as)).body).toMatchObject({ total: 1 });
    expect(sandbox.stateOf("other").contacts).toHaveLength(1);
  });
});
