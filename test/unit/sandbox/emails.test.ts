import { describe, expect, test } from "vitest";
import { open } from "./client.ts";

const path = "/api/v1/emails";
const email = { to: "ada@example.com", subject: "Hi", html: "<p>Hello &amp; <b>welcome</b></p><p>Bye</p>" };

describe("sending now", () => {
  test("answers 200 with the sent email, and records it", async () => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", path, email);
    const [sent] = sandbox.state.emails;
    expect(status).toBe(200);
    expect(body).toEqual({
      id: sent?.id,
      to: "ada@example.com",
      cc: [],
      from: "Sandbox <sandbox@touchpoint.example>",
      subject: "Hi",
      sentAt: "2026-03-01T12:00:00.000Z",
      tracked: true,
      contactId: sandbox.state.contacts[0]?.id,
      contactCreated: true,
    });
    expect(sent).toMatchObject({ html: email.html, text: "Hello & welcome\nBye", mailAccount: "mail-1" });
  });

  test("a known recipient is not created again", async () => {
    const { call, sandbox } = open({ tracking: false });
    const ada = sandbox.addContact({ email: "ADA@example.com" });
    const { body } = await call("POST", path, { to: email.to, subject: "Hi", text: "Hello" });
    expect(body).toMatchObject({ contactId: ada.id, contactCreated: false, tracked: false });
  });

  test.each([
    [{ ...email, to: undefined }, 400, "to is missing."],
    [{ ...email, to: "ada" }, 400, "to is not a valid email address."],
    [{ ...email, subject: "" }, 400, "subject is missing."],
    [{ ...email, text: "x" }, 400, "Exactly one of html and text must be sent, got both."],
    [{ ...email, html: undefined }, 400, "Exactly one of html and text must be sent, got neither."],
    [{ ...email, signatureId: "sig_none" }, 404, "No signature with that id in this workspace."],
    [{ ...email, force: "yes" }, 400, "force must be true or false."],
    [{ ...email, to: "no@example.com" }, 400, "The address is on the do-not-email list."],
    [{ ...email, to: "NO@example.com", force: true }, 400, "The address is on the do-not-email list."],
    [{ ...email, sendAt: "2026-03-02T12:00:00" }, 400, "sendAt must have a time zone."],
    [{ ...email, sendAt: "tomorrow" }, 400, "sendAt must be an ISO 8601 time."],
  ])("%j is a %i and sends nothing", async (body, status, error) => {
    const { call, sandbox } = open({ doNotEmail: ["No@example.com"] });
    const reply = await call("POST", path, body);
    expect([reply.status, reply.body]).toEqual([status, { error }]);
    expect([
      sandbox.state.emails.length,
      sandbox.state.scheduled.size,
      sandbox.state.contacts.length,
    ]).toEqual([0, 0, 0]);
  });

  test("the default signature and those of the workspace are known", async () => {
    const { call } = open({ signatures: ["sig_1"] });
    expect((await call("POST", path, { ...email, signatureId: "default" })).status).toBe(200);
    expect((await call("POST", path, { ...email, signatureId: "sig_1" })).status).toBe(200);
  });

  test.each(["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"])(
    "to a contact in stage %s only with force",
    async (stage) => {
      const { call, sandbox } = open();
      sandbox.addContact({ email: "ada@example.com", stage });
      expect((await call("POST", path, email)).status).toBe(400);
      expect((await call("POST", path, { ...email, force: true })).status).toBe(200);
    },
  );

  test("a disconnected account is a 400, a failing one a 502 with its sentence", async () => {
    const { call, sandbox } = open();
    sandbox.updateMailAccount("mail-1", { connected: false });
    expect(await call("POST", path, email)).toMatchObject({
      status: 400,
      body: { error: "The mail account of this key is no longer connected." },
    });
    sandbox.updateMailAccount("mail-1", { connected: true, failing: "Mailbox is full." });
    expect(await call("POST", path, email)).toMatchObject({
      status: 502,
      body: { error: "Mailbox is full." },
    });
    sandbox.updateMailAccount("mail-1", { failing: null });
    expect((await call("POST", path, email)).status).toBe(200);
    expect(sandbox.state.emails).toHaveLength(1);
  });

  test("the email leaves from the account its key is tied to", async () => {
    const mailAccounts = [{ id: "a" }, { id: "b", from: "Bea <b@example.com>" }];
    const { call } = open({ mailAccounts, apiKeys: [{ key: "sandbox-key", mailAccount: "b" }] });
    expect((await call("POST", path, email)).body).toMatchObject({ from: "Bea <b@example.com>" });
  });
});

describe("sending later", () => {
  const later = { ...email, sendAt: "2026-03-01T14:00:00+01:00" };
  const waitMs = 3_600_000;
  const schedule = async (options = {}, draft = later) => {
    const opened = open(options);
    const reply = await opened.call("POST", path, draft);
    const [record] = [...opened.sandbox.state.scheduled.values()];
    return { ...opened, reply, record, id: record?.id ?? "" };
  };

  test("is answered 201 with the scheduled email, and is sent at its time", async () => {
    const { sandbox, reply, record, id } = await schedule();
    expect([reply.status, reply.body]).toEqual([
      201,
      { scheduled: true, email: { id, status: "SCHEDULED", sendAt: "2026-03-01T13:00:00.000Z" } },
    ]);
    sandbox.advance(waitMs - 1);
    expect([record?.status, sandbox.state.emails.length]).toEqual(["SCHEDULED", 0]);
    sandbox.advance(1);
    expect(record?.status).toBe("SENT");
    expect(sandbox.state.emails).toMatchObject([
      { scheduledId: id, sentAt: "2026-03-01T13:00:00.000Z", contactCreated: true },
    ]);
  });

  test("a long advance still sends the email at its scheduled time", async () => {
    const { sandbox } = await schedule();
    sandbox.advance(10 * waitMs);
    expect(sandbox.state.emails).toMatchObject([{ sentAt: "2026-03-01T13:00:00.000Z" }]);
  });

  test("every check runs again when it is sent", async () => {
    const blocked = await schedule();
    blocked.sandbox.doNotEmail("ada@example.com");
    const replied = await schedule();
    replied.sandbox.addContact({ email: "ada@example.com", stage: "REPLIED" });
    const cut = await schedule();
    cut.sandbox.updateMailAccount("mail-1", { connected: false });
    const failing = await schedule();
    failing.sandbox.updateMailAccount("mail-1", { failing: "Mailbox is full." });
    for (const { sandbox } of [blocked, replied, cut, failing]) sandbox.advance(waitMs);
    expect([blocked, replied, cut, failing].map(({ record }) => [record?.status, record?.error])).toEqual([
      ["FAILED", "The address is on the do-not-email list."],
      ["FAILED", "The contact is in stage REPLIED; send with force: true to email them anyway."],
      ["FAILED", "The mail account of this key is no longer connected."],
      ["FAILED", "Mailbox is full."],
    ]);
  });

  test("waits while the account has used up its day", async () => {
    const { sandbox, call, record } = await schedule({
      limits: { emails: false, emailsPerDay: false },
      mailAccounts: [{ id: "m", dailyLimit: 1 }],
    });
    expect((await call("POST", path, email)).status).toBe(200);
    sandbox.advance(waitMs);
    expect([record?.status, sandbox.state.emails.length]).toEqual(["SCHEDULED", 1]);
    sandbox.advance(24 * waitMs - waitMs - 1);
    expect(record?.status).toBe("SCHEDULED");
    sandbox.advance(1);
    expect(sandbox.state.emails.map(({ sentAt }) => sentAt)).toEqual([
      "2026-03-01T12:00:00.000Z",
      "2026-03-02T12:00:00.000Z",
    ]);
  });

  test("can be listed, changed and cancelled until it is sent", async () => {
    const { call, sandbox, record, id } = await schedule();
    const one = `${path}/scheduled/${id}`;
    const shown = { id, status: "SCHEDULED", sendAt: "2026-03-01T13:00:00.000Z" };
    expect((await call("GET", `${path}/scheduled`)).body).toEqual({
      data: [shown],
      total: 1,
      skip: 0,
      limit: 50,
    });
    const patch = { sendAt: "2026-03-01T15:00:00Z", text: "Plain", subject: "New" };
    expect(await call("PATCH", one, patch)).toMatchObject({
      status: 200,
      body: { ...shown, sendAt: "2026-03-01T15:00:00.000Z" },
    });
    expect((await call("PATCH", one, { subject: "" })).status).toBe(400);
    sandbox.advance(waitMs);
    expect(sandbox.state.emails).toEqual([]);
    sandbox.advance(2 * waitMs);
    expect(sandbox.state.emails).toMatchObject([{ subject: "New", text: "Plain" }]);
    expect(sandbox.state.emails[0]).not.toHaveProperty("html");
    expect(record?.status).toBe("SENT");
    expect((await call("PATCH", one, patch)).status).toBe(400);
    expect((await call("DELETE", one)).status).toBe(400);
    expect((await call("GET", `${path}/scheduled`)).body).toMatchObject({ total: 0 });
  });

  test("a cancelled one is never sent, and is not found again", async () => {
    const { call, sandbox, id } = await schedule();
    const first = await call("DELETE", `${path}/scheduled/${id}`);
    expect([first.status, first.body]).toEqual([204, undefined]);
    expect((await call("DELETE", `${path}/scheduled/${id}`)).status).toBe(404);
    expect((await call("PATCH", `${path}/scheduled/${id}`, {})).status).toBe(404);
    sandbox.advance(waitMs);
    expect(sandbox.state.emails).toEqual([]);
    expect(sandbox.state.scheduled.get(id)?.status).toBe("CANCELLED");
  });

  test("a faulty email is refused at once", async () => {
    const { reply } = await schedule({}, { ...later, to: "x" });
    expect(reply.status).toBe(400);
  });
});

describe("what changes before a scheduled email goes out", () => {
  const scheduled = { ...email, sendAt: "2026-03-01T13:00:00Z" };

  test("more room in the account's day sends what waited for it", async () => {
    const { call, sandbox } = open();
    sandbox.updateMailAccount("mail-1", { dailyLimit: 1 });
    await call("POST", path, email);
    await call("POST", path, scheduled);
    sandbox.advance(2 * 3_600_000);
    expect(sandbox.state.emails).toHaveLength(1);
    sandbox.updateMailAccount("mail-1", { dailyLimit: null });
    sandbox.advance(0);
    expect(sandbox.state.emails).toMatchObject([{}, { scheduledId: expect.stringMatching(/^se_/) }]);
  });

  test("a second cancel finds no record", async () => {
    const { call } = open();
    const { body } = await call("POST", path, scheduled);
    // As the sandbox nests it.
    const { id } = (body as { email: { id: string } }).email;
    expect((await call("DELETE", `${path}/scheduled/${id}`)).status).toBe(204);
    expect(await call("DELETE", `${path}/scheduled/${id}`)).toMatchObject({
      status: 404,
      body: { error: "No scheduled email with that id in this workspace." },
    });
  });
});
