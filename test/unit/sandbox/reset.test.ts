import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import type { SandboxOptions } from "../../../src/sandbox/index.ts";
import { open } from "./client.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-sandbox-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "sandbox.json");

const settings: SandboxOptions = {
  automations: [{ name: "Welcome", startsOn: "signed.up", waitsFor: "order.placed" }],
};

/** Leaves a trace in everything that a sandbox keeps. */
const used = async () => {
  const opened = open(settings);
  const { call, sandbox } = opened;
  await call("POST", "/api/v1/companies", { companyName: "Acme", domain: "acme.example" });
  await call("POST", "/api/v1/lists", { name: "Beta" });
  const [list = ""] = sandbox.state.lists.keys();
  await call("POST", `/api/v1/lists/${list}/contacts`, { emails: ["ada@example.com"] });
  await call("POST", "/api/v1/events", {
    id: "e-1",
    name: "signed.up",
    contact: { email: "ada@example.com" },
  });
  await call("POST", "/api/v1/emails", { to: "ada@example.com", subject: "Hi", text: "Hi" });
  const sendAt = "2026-03-01T14:00:00Z";
  await call("POST", "/api/v1/emails", { to: "ada@example.com", subject: "Later", text: "Hi", sendAt });
  sandbox.doNotEmail("eve@example.com");
  sandbox.updateMailAccount("mail-1", { failing: "Mailbox full." });
  sandbox.advance(60_000);
  return opened;
};

describe("reset", () => {
  test("leaves nothing behind: the same calls give the same answers as in a new sandbox", async () => {
    const { sandbox, call } = await used();
    sandbox.fail({ with: { status: 500 }, times: 9 });
    sandbox.updateKey("sandbox-key", { revoked: true });
    sandbox.freeze();
    sandbox.reset();
    const fresh = open(settings);
    const answers = async (on: typeof call) => [
      await on("POST", "/api/v1/contacts", { email: "ada@example.com" }),
      await on("POST", "/api/v1/emails", { to: "eve@example.com", subject: "Hi", text: "Hi" }),
      await on("GET", "/api/v1/emails/scheduled"),
    ];
    const plain = (replies: Awaited<ReturnType<typeof answers>>) =>
      replies.map(({ status, body }) => ({ status, body }));
    expect(plain(await answers(call))).toEqual(plain(await answers(fresh.call)));
    expect(sandbox.state.counts).toEqual(fresh.sandbox.state.counts);
  });

  test("a state object from before the reset shows the state after it", async () => {
    const { sandbox } = await used();
    const { state } = sandbox;
    sandbox.reset();
    expect([state.contacts.length, state.emails.length, state.requests.length, state.scheduled.size]).toEqual(
      [0, 0, 0, 0],
    );
  });

  test("an email that was scheduled before does not go out after it", async () => {
    const { sandbox } = await used();
    sandbox.reset();
    sandbox.advance(86_400_000);
    expect(sandbox.state.emails).toEqual([]);
  });

  test("an answer that was on its way comes at its time", async () => {
    const { sandbox, call } = open({ latencyMs: 300 });
    sandbox.advance(5_000);
    const answer = call("GET", "/api/v1/contacts");
    sandbox.reset();
    sandbox.advance(300);
    expect((await answer).status).toBe(200);
  });

  test("limits begin anew", async () => {
    const { sandbox, call } = open({ limits: { requests: 1 } });
    await call("GET", "/api/v1/contacts");
    expect((await call("GET", "/api/v1/contacts")).status).toBe(429);
    sandbox.reset();
    expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
  });
});

describe("save and load", () => {
  test("bring every record back, into another sandbox too", async () => {
    const { sandbox } = await used();
    await sandbox.save(file);
    const other = open(settings);
    await other.sandbox.load(file);
    for (const part of ["contacts", "events", "emails"] as const)
      expect([part, other.sandbox.state[part]]).toEqual([part, sandbox.state[part]]);
    for (const part of ["companies", "lists", "scheduled"] as const)
      expect([part, [...other.sandbox.state[part]]]).toEqual([part, [...sandbox.state[part]]]);
    expect(readFileSync(file, "utf8")).not.toContain("sandbox-key");
  });

  test("what was loaded lives on: ids, automations, mail accounts, scheduled emails and the clock", async () => {
    await (await used()).sandbox.save(file);
    const { sandbox, call } = open(settings);
    await sandbox.load(file);
    const event = { name: "signed.up", contact: { email: "ada@example.com" } };
    expect((await call("POST", "/api/v1/events", { ...event, id: "e-1" })).body).toMatchObject({
      duplicate: true,
    });
    expect((await call("POST", "/api/v1/events", { ...event, name: "order.placed" })).body).toMatchObject({
      runsResumed: 1,
    });
    expect((await call("POST", "/api/v1/companies", { domain: "acme.example" })).status).toBe(200);
    const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
    expect((await call("POST", "/api/v1/emails", email)).body).toEqual({ error: "Mailbox full." });
    expect((await call("POST", "/api/v1/emails", { ...email, to: "eve@example.com" })).status).toBe(400);
    sandbox.updateMailAccount("mail-1", { failing: null });
    expect(sandbox.addContact({ email: "new@example.com" }).createdAt).toBe("2026-03-01T12:01:00.000Z");
    sandbox.advance(2 * 3_600_000);
    expect(sandbox.state.emails.map(({ subject }) => subject)).toEqual(["Hi", "Later"]);
    const ids = [...sandbox.state.contacts, ...sandbox.state.emails, ...sandbox.state.events].map(
      ({ id }) => id,
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("a file written by hand needs an email for each contact, and no more", async () => {
    const contacts = [{ email: "ada@example.com", name: "Ada" }];
    const more = { mailAccounts: [{ id: "mail-1" }], runs: [{ name: "welcome" }] };
    const workspaces = { default: { contacts, ...more } };
    writeFileSync(file, JSON.stringify({ format: "touchpoint-sandbox", version: 1, workspaces }));
    const { sandbox, call } = open({ automations: [{ name: "welcome", startsOn: "signed.up" }] });
    await sandbox.load(file);
    expect(sandbox.state.contacts).toMatchObject([{ ...contacts[0], stage: "NEW", listIds: [] }]);
    const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
    expect(await call("POST", "/api/v1/emails", email)).toMatchObject({ status: 200 });
  });

  test.each([
    ["not JSON", "{", /JSON/],
    [
      "of another format",
      '{"format":"x","version":2}',
      /format must be "touchpoint-sandbox", got "x"; version must be 1, got 2; workspaces must be an object, got undefined/,
    ],
    [
      "with a contact without an address",
      '{"format":"touchpoint-sandbox","version":1,"workspaces":{"default":{"contacts":[{}]}}}',
      /workspaces\.default\.contacts\[0\]\.email must be a non-empty string/,
    ],
    [
      "with two contacts of one address",
      '{"format":"touchpoint-sandbox","version":1,"workspaces":{"default":{"contacts":[{"email":"ada@x.example"},{"email":"Ada@x.example"}]}}}',
      /workspaces\.default\.contacts\[1\]\.email must differ from the address of every other contact/,
    ],
    [
      "with a scheduled email at no time",
      '{"format":"touchpoint-sandbox","version":1,"workspaces":{"default":{"scheduled":[{"id":"se_1","status":"SCHEDULED","mailAccount":"mail-1","sendAt":"soon"}]}}}',
      /workspaces\.default\.scheduled\[0\]\.sendAt must be a Date or an ISO 8601 string, got "soon"/,
    ],
    [
      "with a run of no automation",
      '{"format":"touchpoint-sandbox","version":1,"workspaces":{"default":{"runs":[{}]}}}',
      /workspaces\.default\.runs\[0\]\.name must be a non-empty string/,
    ],
    [
      "from a time that no date can hold",
      '{"format":"touchpoint-sandbox","version":1,"aheadMs":1e300,"workspaces":{}}',
      /aheadMs must be a number of milliseconds that keeps the clock within the range of a JavaScript Date \(to the year 275760\), got 1e\+300/,
    ],
    [
      "of an unknown workspace",
      '{"format":"touchpoint-sandbox","version":1,"workspaces":{"other":{}}}',
      /workspace must be "default", got "other"/,
    ],
  ])("a file that is %s is refused by name, and changes nothing", async (_, content, why) => {
    writeFileSync(file, content);
    const { sandbox } = open();
    sandbox.addContact({ email: "ada@example.com" });
    sandbox.advance(1_000);
    const refused = sandbox.load(file);
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.toThrow(file);
    expect(sandbox.addContact({ email: "bob@example.com" }).createdAt).toBe("2026-03-01T12:00:01.000Z");
    expect(sandbox.state.contacts).toHaveLength(2);
  });

  test("a file that is not there is refused by name", async () => {
    await expect(open().sandbox.load(join(folder, "none"))).rejects.toThrow(/sandbox\.load: .*none: ENOENT/);
  });
});
