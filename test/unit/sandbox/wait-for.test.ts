import { expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../../support/fake-clock.ts";
import { open } from "./client.ts";

const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
const path = "/api/v1/emails";

test("waitFor resolves with an email, contact, event or request that comes later, or is there", async () => {
  const { call, sandbox } = open();
  const later = [
    sandbox.waitFor("email", { to: "ADA@example.com" }),
    sandbox.waitFor("contact", { email: "ada@example.com" }),
    sandbox.waitFor("event", { name: "order.placed", properties: { total: 3 } }),
    sandbox.waitFor("request", { operation: "emails.send", status: 200 }),
  ];
  await call("POST", path, { ...email, to: "bob@example.com" });
  await call("POST", path, email);
  const event = { name: "order.placed", contact: { email: "ada@example.com" } };
  await call("POST", "/api/v1/events", { ...event, properties: { total: 2 } });
  await call("POST", "/api/v1/events", { ...event, properties: { total: 3, more: 1 } });
  const { emails, contacts, events, requests } = sandbox.state;
  expect(await Promise.all(later)).toEqual([emails[1], contacts[1], events[1], requests[0]]);
  expect(await sandbox.waitFor("email", { to: email.to })).toBe(emails[1]);
});

test("waitFor sees a scheduled email that goes out, and what comes after a reset", async () => {
  const { call, sandbox } = open();
  await call("POST", path, { ...email, sendAt: "2026-03-01T13:00:00Z" });
  const sent = sandbox.waitFor("email", { to: email.to });
  sandbox.advance(3_600_000);
  expect(await sent).toMatchObject({ scheduledId: expect.stringMatching(/^se_/) });
  sandbox.reset();
  const next = sandbox.waitFor("email");
  await call("POST", path, { ...email, subject: "Next" });
  expect(await next).toMatchObject({ subject: "Next" });
});

test("waitFor says what did not come, and keeps no timer of what did", async () => {
  const clock = new FakeClock();
  const { call, sandbox } = open({ clock });
  const late = sandbox.waitFor("email", { to: "eve@example.com" }, { timeoutMs: 1_000 });
  const failed = expect(late).rejects.toThrow(
    'sandbox.waitFor: no email with {"to":"eve@example.com"} within 1000 ms (emails checked: 1)',
  );
  const came = sandbox.waitFor("email", { to: email.to }, { timeoutMs: 1_000 });
  await call("POST", path, email);
  await came;
  await clock.advance(1_000);
  await failed;
});

test.each<[string, object, RegExp]>([
  ["mail", {}, /kind/],
  ["email", { timeout: 5 }, /timeout/],
  ["email", { workspace: "none" }, /workspace/],
])("waitFor refuses %s with %j", async (kind, options, message) => {
  // As a caller without types.
  await expect(open().sandbox.waitFor(kind as "email", {}, options)).rejects.toThrow(message);
});

test("GET /_sandbox/emails waits for an email to an address, and lists it", async () => {
  const { call, sandbox } = open();
  const { url, close } = await sandbox.listen({ port: 0 });
  onTestFinished(close);
  const subjects = async (query: string): Promise<string[]> => {
    const response = await fetch(`${url}/_sandbox/emails?${query}`);
    // As the list is documented.
    const { items } = (await response.json()) as { items: { subject: string }[] };
    return items.map(({ subject }) => subject);
  };
  await call("POST", path, { ...email, to: "bob@example.com", subject: "Bob" });
  const waited = subjects("to=Ada@example.com&waitMs=60000");
  expect(await subjects("to=ada@example.com")).toEqual([]);
  await call("POST", path, email);
  expect(await waited).toEqual(["Hi"]);
  expect((await fetch(`${url}/_sandbox/emails?to=a@b.c&waitMs=soon`)).status).toBe(400);
});

test("fields that no message can show end the wait, and not the process", async () => {
  const { sandbox } = open();
  const fields = { subject: 1n } as never;
  await expect(sandbox.waitFor("email", fields, { timeoutMs: 0 })).rejects.toThrow(TypeError);
});
