import { expect, test } from "vitest";
import { Client, type EmailInput } from "../../src/index.ts";
import { createSandbox, type SandboxOptions } from "../../src/sandbox/index.ts";

const service = (options: SandboxOptions = {}) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, ...options });
  const { fetch } = sandbox;
  return {
    sandbox,
    client: new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false }),
  };
};

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", html: "<p>Hello</p>" };
const inAnHour = () => new Date(Date.now() + 3_600_000);

test("an email is sent, and its recipient becomes a contact", async () => {
  const { sandbox, client } = service();
  const sent = await client.emails.send(email);
  expect(sent).toMatchObject({ to: "ada@example.com", subject: "Welcome", contactCreated: true });
  expect(sandbox.state.emails).toHaveLength(1);
  expect(sandbox.state.contacts).toMatchObject([{ id: sent.contactId }]);
});

test("a scheduled email is kept, listed, changed and cancelled", async () => {
  const { client } = service();
  const sendAt = inAnHour();
  const kept = await client.emails.schedule({ ...email, sendAt });
  expect(kept).toMatchObject({ status: "SCHEDULED", sendAt: sendAt.toISOString() });
  expect((await client.emails.scheduled.list()).data).toMatchObject([{ id: kept.id }]);
  const later = new Date(sendAt.getTime() + 60_000);
  expect(await client.emails.scheduled.update(kept.id, { sendAt: later })).toMatchObject({
    sendAt: later.toISOString(),
  });
  await client.emails.scheduled.cancel(kept.id);
  expect(await client.emails.scheduled.list().toArray()).toEqual([]);
});

test("a scheduled email on top of the answer is read as one in it", async () => {
  const { sandbox, client } = service();
  const body = { scheduled: true, id: "se_1", status: "SCHEDULED", sendAt: inAnHour().toISOString() };
  sandbox.fail({ operation: "emails.schedule", with: { status: 201, body } });
  expect(await client.emails.schedule({ ...email, sendAt: body.sendAt })).toEqual(body);
});

test("more scheduled emails than one page are all listed", async () => {
  const { client } = service();
  const sendAt = inAnHour();
  const ids: string[] = [];
  for (let at = 0; at < 60; at += 1) ids.push((await client.emails.schedule({ ...email, sendAt })).id);
  const listed = await client.emails.scheduled.list({ limit: 25 }).toArray();
  expect(listed.map(({ id }) => id)).toEqual(ids);
});

test("a cancel whose response is lost is done", async () => {
  const { sandbox, client } = service();
  const { id } = await client.emails.schedule({ ...email, sendAt: inAnHour() });
  sandbox.fail({ operation: "emails.scheduled.cancel", with: "reset-after-apply" });
  expect(await client.emails.scheduled.cancel(id)).toBeUndefined();
  await expect(client.emails.scheduled.cancel(id)).rejects.toMatchObject({ name: "NotFoundError" });
});

test("a refusal of the service has its own error, and nothing is sent", async () => {
  const { sandbox, client } = service({ doNotEmail: ["no@example.com"] });
  const { id } = await client.contacts.create({ email: "dead@example.com" });
  await client.contacts.update(id, { stage: "DEAD" });
  const names = await Promise.all(
    [
      { ...email, to: "no@example.com" },
      { ...email, to: "dead@example.com" },
      { ...email, signatureId: "nobody's" },
    ].map((input) => client.emails.send(input).catch((error) => error.name)),
  );
  expect(names).toEqual(["BadRequestError", "BadRequestError", "NotFoundError"]);
  expect(sandbox.state.emails).toEqual([]);
  await client.emails.send({ ...email, to: "dead@example.com", force: true });
  expect(sandbox.state.emails).toHaveLength(1);
});

test("a mail account that fails says why, and the email is not repeated", async () => {
  const { sandbox, client } = service({ mailAccounts: [{ id: "m", failing: "The mailbox is full." }] });
  await expect(client.emails.send(email)).rejects.toMatchObject({
    name: "MailAccountError",
    message: "The mailbox is full.",
    outcome: "not-applied",
  });
  expect(sandbox.state.requests).toHaveLength(1);
});

test("a send whose response is lost is not repeated", async () => {
  const { sandbox, client } = service();
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  await expect(client.emails.send(email)).rejects.toMatchObject({ outcome: "unknown" });
  expect(sandbox.state.emails).toHaveLength(1);
});
