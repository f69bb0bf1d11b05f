import { expect, test } from "vitest";
import { Client } from "../../src/client.ts";
import { documentedLimits } from "../../src/options/limits.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { stillClock } from "../unit/sandbox/client.ts";
import { clientOf, service } from "./service.ts";

const contact = { email: "ada@example.com" };

test("only the failed events of a batch are sent again, with the same ids", async () => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ clock: stillClock, limits: false });
  const { fetch } = sandbox;
  const options = { apiKey: "sandbox-key", baseUrl: "https://service.test", limits: false, fetch } as const;
  const client = new Client(options, { clock });
  sandbox.fail({ operation: "events.recordBatch", with: { items: [1], status: 503 } });
  const names = ["a", "b", "c"];
  const answer = client.events.recordBatch(names.map((name) => ({ id: name, name, contact })));
  await clock.advance(60_000);
  expect(await answer).toMatchObject({ accepted: 3, rejected: 0 });
  expect(sandbox.state.requests.map(({ body }) => body)).toEqual([
    { events: names.map((name) => ({ id: name, name, contact })) },
    { events: [{ id: "b", name: "b", contact }] },
  ]);
});

test("the client paces itself by the document's numbers", () => {
  expect(documentedLimits).toEqual({
    requests: { max: 100, windowMs: 10_000 },
    requestsPerDay: 50_000,
    emails: { max: 20, windowMs: 60_000 },
    emailsPerDay: 300,
    events: { max: 50, windowMs: 1_000 },
    eventsPerDay: 100_000,
  });
});

test("a list of contacts ends with the page that reaches the total, an exactly full one too", async () => {
  const { client, sandbox } = service();
  sandbox.seedContacts(400);
  expect(await client.contacts.list({}, { prefetch: 0 }).toArray()).toHaveLength(400);
  const asked = sandbox.state.requests.map(({ query }) => query);
  expect(asked.every(({ skip }) => Number(skip ?? 0) < 400)).toBe(true);
});

test("without a limit a page holds 50 contacts, and skip leaves out those before it", async () => {
  const { client, sandbox } = service();
  sandbox.seedContacts(60);
  const [first, second] = [await client.contacts.list(), await client.contacts.list({ skip: 50 })];
  expect([first.data.length, second.data.length, second.total, second.skip]).toEqual([50, 10, 60, 50]);
});

test("a sent email has one recipient, given as one string", async () => {
  const { client, sandbox } = service();
  const to = ["ada@example.com", "bob@example.com"] as unknown as string;
  await expect(client.emails.send({ to, subject: "x", text: "x" })).rejects.toMatchObject({
    issues: [{ path: "to" }],
  });
  expect(sandbox.state.requests).toEqual([]);
});

test("a scheduled email waits if immediate sends have used up its account's capacity", async () => {
  const { client, sandbox } = service({ mailAccounts: [{ id: "a", dailyLimit: 1 }], limits: {} });
  const email = { to: "ada@example.com", subject: "x", text: "x" } as const;
  await client.emails.schedule({ ...email, sendAt: "2026-03-01T12:00:30Z" });
  await client.emails.send(email);
  sandbox.advance(60_000);
  expect(sandbox.state.emails).toHaveLength(1);
  sandbox.advance(86_400_000);
  expect(sandbox.state.emails).toHaveLength(2);
});

test("a scheduled email gets the signature and tracking of the time of sending, not of scheduling", async () => {
  const sandbox = createSandbox({ signatures: ["sig-1"], clock: stillClock, limits: false });
  const client = clientOf(sandbox.fetch);
  const email = { to: "ada@example.com", subject: "x", text: "x", sendAt: "2026-03-01T12:00:30Z" } as const;
  const plain = await client.emails.schedule(email);
  const signed = await client.emails.schedule({ ...email, signatureId: "sig-1" });
  sandbox.updateWorkspace({ signatures: [], tracking: false });
  sandbox.advance(60_000);
  expect(sandbox.state.emails).toMatchObject([{ scheduledId: plain.id, tracked: false }]);
  expect(sandbox.state.scheduled.get(signed.id)).toMatchObject({
    status: "FAILED",
    error: "No signature with that id in this workspace.",
  });
});
