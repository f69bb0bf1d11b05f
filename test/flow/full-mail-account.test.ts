import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

let services = 0;
const hourMs = 3_600_000;
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

/** A service whose mail account is full for an hour: it sends nothing, and keeps what is scheduled. */
const fullAccount = (retryAfter = "3600") => {
  const clock = new FakeClock();
  const arrived: string[] = [];
  const fullUntil = clock.now() + hourMs;
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    const { sendAt } = JSON.parse(String(init.body));
    arrived.push(sendAt === undefined ? "send" : "schedule");
    if (sendAt !== undefined)
      return Response.json({ id: "s1", status: "SCHEDULED", sendAt }, { status: 201 });
    if (clock.now() >= fullUntil) return Response.json({ id: "m1", ...email });
    return Response.json({ error: "full" }, { status: 429, headers: { "retry-after": retryAfter } });
  };
  services += 1;
  const baseUrl = `https://full-account-${services}.test`;
  const open = (options: ClientOptions = {}) =>
    new Client(
      { apiKey: "key", baseUrl, fetch, maxRetries: 0, responseValidation: "off", ...options },
      { clock, random: () => 0.5 },
    );
  const sendAt = new Date(clock.wallTime() + 24 * hourMs);
  return { clock, arrived, open, sendAt };
};

const refused = { name: "RateLimitError", limit: "emails", attempts: 0, outcome: "not-applied" };

test("a full mail account stops sending until its time is up, and scheduling not at all", async () => {
  const { clock, arrived, open, sendAt } = fullAccount();
  const client = open();
  await expect(client.emails.send(email)).rejects.toMatchObject({ status: 429, attempts: 1 });
  await expect(client.emails.send(email)).rejects.toMatchObject(refused);
  await client.emails.schedule({ ...email, sendAt });
  await clock.advance(hourMs - 60_001);
  await expect(client.emails.send(email)).rejects.toMatchObject(refused);
  await clock.advance(1);
  await clock.until(client.emails.send(email));
  expect(clock.now()).toBe(hourMs);
  expect(arrived).toEqual(["send", "schedule", "send"]);
});

test("budgets() of a new client shows the pause, and the client keeps it", async () => {
  const { clock, open, sendAt } = fullAccount();
  const first = open();
  await expect(first.emails.send(email)).rejects.toMatchObject({ status: 429 });
  await first.close();
  const client = open();
  expect(client.budgets().emails).toMatchObject({
    used: 1,
    pausedUntil: clock.wallTime() + hourMs,
    pausedBy: "429 on emails.send",
  });
  await expect(client.emails.send(email)).rejects.toMatchObject(refused);
  await client.emails.schedule({ ...email, sendAt });
});

test("another account, by its name in limitScopes, is not paused", async () => {
  const { arrived, open } = fullAccount();
  await expect(open().emails.send(email)).rejects.toMatchObject({ attempts: 1 });
  const moved = open({ limitScopes: { emails: "new@ours.example" } });
  await expect(moved.emails.send(email)).rejects.toMatchObject({ attempts: 1 });
  expect(arrived).toEqual(["send", "send"]);
});

test("a free request to the path of emails sends or schedules by its body", async () => {
  const { arrived, open, sendAt } = fullAccount();
  const client = open();
  const post = (body: object) =>
    client.request({ method: "POST", path: "/api/v1/emails", body: { ...email, ...body } });
  await expect(client.emails.send(email)).rejects.toMatchObject({ attempts: 1 });
  await expect(post({})).rejects.toMatchObject({ attempts: 0 });
  await post({ sendAt: sendAt.toISOString() });
  expect(arrived).toEqual(["send", "schedule"]);
});

test("a 429 within the window is the limit of emails: it stops both", async () => {
  const { clock, arrived, open, sendAt } = fullAccount("60");
  const client = open();
  await expect(client.emails.send(email)).rejects.toMatchObject({ status: 429 });
  const scheduled = client.emails.schedule({ ...email, sendAt });
  await clock.advance(59_999);
  expect(arrived).toEqual(["send"]);
  await clock.until(scheduled);
  expect(arrived).toEqual(["send", "schedule"]);
});
