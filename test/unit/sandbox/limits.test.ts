import { describe, expect, test } from "vitest";
import { documentedLimits, type SandboxLimits } from "../../../src/sandbox/index.ts";
import { createMeter } from "../../../src/sandbox/limits.ts";
import { type Caller, open } from "./client.ts";

const event = { name: "x", contact: { email: "ada@example.com" } };
const email = { to: "ada@example.com", subject: "Hi", text: "Hello" };
const none: SandboxLimits = {
  requests: false,
  requestsPerDay: false,
  emails: false,
  emailsPerDay: false,
  events: false,
  eventsPerDay: false,
};
const day = 86_400_000;

const list = ({ call }: Caller) => call("GET", "/api/v1/contacts?limit=1");
const record = ({ call }: Caller) => call("POST", "/api/v1/events", event);
const batch = ({ call }: Caller, size: number) =>
  call("POST", "/api/v1/events/batch", { events: Array(size).fill(event) });
const send = ({ call }: Caller) => call("POST", "/api/v1/emails", email);

const many = async (times: number, make: () => Promise<{ status: number }>) => {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await make()).status);
  return statuses;
};
const ok = (count: number, status = 200) => Array<number>(count).fill(status);

describe("the documented limits", () => {
  test("are the document's numbers", () => {
    expect(documentedLimits).toEqual({
      requests: { max: 100, windowMs: 10_000 },
      requestsPerDay: { max: 50_000, windowMs: 86_400_000 },
      emails: { max: 20, windowMs: 60_000 },
      emailsPerDay: { max: 300, windowMs: 86_400_000 },
      events: { max: 50, windowMs: 1_000 },
      eventsPerDay: { max: 100_000, windowMs: 86_400_000 },
    });
  });

  test("the 101st request in 10 seconds is a 429 with Retry-After", async () => {
    const caller = open({ limits: {} });
    expect(await many(100, () => list(caller))).toEqual(ok(100));
    const { status, headers, body } = await list(caller);
    expect([status, headers.get("retry-after"), body]).toEqual([
      429,
      "10",
      { error: "Too many requests; retry later." },
    ]);
    caller.sandbox.advance(10_000);
    expect((await list(caller)).status).toBe(200);
  });

  test("the 51st event in a second and the 21st email in a minute are a 429", async () => {
    const caller = open({ limits: { requests: false } });
    expect(await many(51, () => record(caller))).toEqual([...ok(50, 202), 429]);
    expect(await many(21, () => send(caller))).toEqual([...ok(20), 429]);
    expect((await send(caller)).headers.get("retry-after")).toBe("60");
  });

  test("50,000 requests, 100,000 events and 300 emails are a day's worth", () => {
    const worth = { requestsPerDay: 50_000, eventsPerDay: 100_000, emailsPerDay: 300 };
    for (const name of ["requestsPerDay", "eventsPerDay", "emailsPerDay"] as const) {
      const meter = createMeter(documentedLimits[name]);
      meter.take(worth[name] - 1, 0);
      expect(meter.waitMs(1, 0)).toBe(0);
      meter.take(1, 0);
      expect([meter.waitMs(1, 1), meter.waitMs(1, day)]).toEqual([day - 1, 0]);
    }
  });

  test("a day's worth of requests, events and emails is that, and one more is refused", async () => {
    const requests = open({ limits: { ...none, requestsPerDay: 5_000 } });
    expect(await many(5_001, () => list(requests))).toEqual([...ok(5_000), 429]);
    const events = open({ limits: { ...none, eventsPerDay: 10_000 } });
    expect(await many(101, () => batch(events, 100))).toEqual([...ok(100, 207), 429]);
    const emails = open({ limits: { ...none, emailsPerDay: 300 } });
    expect(await many(301, () => send(emails))).toEqual([...ok(300), 429]);
    expect((await send(emails)).headers.get("retry-after")).toBe("86400");
  });

  test("hold when some are given and others not", async () => {
    const caller = open({ limits: { requests: { max: 1, windowMs: 5 } } });
    expect(await many(2, () => list(caller))).toEqual([200, 429]);
    const events = open({ limits: { requests: false } });
    expect((await batch(events, 100)).status).toBe(207);
    expect((await record(events)).status).toBe(429);
  });
});

describe("counting", () => {
  const limits: SandboxLimits = { ...none, requests: { max: 2, windowMs: 1_000 } };

  test("a sliding window frees each request at its own time", async () => {
    const caller = open({ limits });
    await list(caller);
    caller.sandbox.advance(600);
    await list(caller);
    caller.sandbox.advance(399);
    expect((await list(caller)).status).toBe(429);
    caller.sandbox.advance(1);
    expect(await many(2, () => list(caller))).toEqual([200, 429]);
    caller.sandbox.advance(600);
    expect((await list(caller)).status).toBe(200);
  });

  test("a refused request costs nothing, so waiting Retry-After is always enough", async () => {
    const caller = open({ limits: { ...none, requests: { max: 1, windowMs: 1_500 } } });
    await list(caller);
    caller.sandbox.advance(100);
    expect((await list(caller)).headers.get("retry-after")).toBe("2");
    caller.sandbox.advance(1_400);
    expect((await list(caller)).status).toBe(200);
  });

  test("every request with a valid key counts, also one that is then refused", async () => {
    const caller = open({ limits });
    expect((await caller.call("POST", "/api/v1/contacts", {})).status).toBe(400);
    expect((await caller.call("GET", "/api/v1/nothing")).status).toBe(404);
    expect((await list(caller)).status).toBe(429);
    const nobody = { authorization: "Bearer nobody" };
    expect((await caller.call("GET", "/api/v1/contacts", undefined, nobody)).status).toBe(401);
  });

  test("a request that one limit refuses draws on no other", async () => {
    const caller = open({ limits: { ...limits, events: { max: 1, windowMs: 1_000 } } });
    expect(await many(5, () => record(caller))).toEqual([202, 429, 429, 429, 429]);
    expect(await many(2, () => list(caller))).toEqual([200, 429]);
  });

  test("requests count per key, events per workspace", async () => {
    const apiKeys = ["sandbox-key", "second", { key: "elsewhere", workspace: "other" }];
    const caller = open({ apiKeys, limits: { ...none, requests: 1, events: { max: 1, windowMs: 1_000 } } });
    const as = (key: string, path: string) =>
      caller.call("POST", path, event, { authorization: `Bearer ${key}` });
    expect((await as("sandbox-key", "/api/v1/events")).status).toBe(202);
    expect((await as("second", "/api/v1/events")).body).toEqual({ error: "Too many events; retry later." });
    expect((await as("elsewhere", "/api/v1/events")).status).toBe(202);
  });

  test("emails count per key and per mail account across all keys", async () => {
    const apiKeys = ["sandbox-key", "second", { key: "third", mailAccount: "b" }];
    const mailAccounts = [{ id: "a" }, { id: "b" }];
    const caller = open({ apiKeys, mailAccounts, limits: { ...none, emails: 2 } });
    const as = async (key: string) =>
      (await caller.call("POST", "/api/v1/emails", email, { authorization: `Bearer ${key}` })).status;
    expect([await as("sandbox-key"), await as("second"), await as("second"), await as("third")]).toEqual([
      200, 200, 429, 200,
    ]);
  });

  test("a scheduled email draws on the key now and on the account when it is sent", async () => {
    const limits = { ...none, emails: { max: 1, windowMs: day } };
    const caller = open({ limits, mailAccounts: [{ id: "a", dailyLimit: 1 }] });
    const later = { ...email, sendAt: "2026-03-01T12:00:10Z" };
    expect((await caller.call("POST", "/api/v1/emails", later)).status).toBe(201);
    expect((await send(caller)).status).toBe(429);
    caller.sandbox.advance(day);
    expect((await send(caller)).headers.get("retry-after")).toBe("10");
  });

  test("the day of a mail account counts the emails that leave it, and no refused one", async () => {
    const caller = open({
      limits: none,
      mailAccounts: [{ id: "a", dailyLimit: 1 }],
      doNotEmail: ["no@example.com"],
    });
    const sendTo = async (to: string) =>
      (await caller.call("POST", "/api/v1/emails", { ...email, to })).status;
    caller.sandbox.updateMailAccount("a", { failing: "Mailbox is full." });
    expect([await sendTo("no@example.com"), await sendTo("nobody"), await sendTo("ada@example.com")]).toEqual(
      [400, 400, 502],
    );
    caller.sandbox.updateMailAccount("a", { failing: null });
    expect([await sendTo("ada@example.com"), await sendTo("ada@example.com")]).toEqual([200, 429]);
  });

  test("a scheduled email that fails leaves the day of its account to another", async () => {
    const caller = open({ limits: none, mailAccounts: [{ id: "a", dailyLimit: 1 }] });
    await caller.call("POST", "/api/v1/emails", { ...email, sendAt: "2026-03-01T12:00:10Z" });
    caller.sandbox.updateMailAccount("a", { failing: "Mailbox is full." });
    caller.sandbox.advance(10_000);
    caller.sandbox.updateMailAccount("a", { failing: null });
    expect((await send(caller)).status).toBe(200);
  });

  test("of two limits that refuse, the longer wait is reported", async () => {
    const caller = open({ limits: { ...none, requestsPerDay: 1, emails: 1 } });
    expect((await send(caller)).status).toBe(200);
    expect((await send(caller)).headers.get("retry-after")).toBe("86400");
  });

  test("a mail account's used-up day has its own sentence", async () => {
    const caller = open({ limits: none, mailAccounts: [{ id: "a", dailyLimit: 1 }] });
    await send(caller);
    expect((await send(caller)).body).toEqual({
      error: "The mail account reached its daily sending limit; retry later.",
    });
  });
});

describe("events in batches", () => {
  const limits = { ...none, events: { max: 10, windowMs: 1_000 } };

  test("each event counts; a batch without room is refused whole", async () => {
    const caller = open({ limits });
    expect((await batch(caller, 6)).status).toBe(207);
    expect((await batch(caller, 5)).status).toBe(429);
    expect((await batch(caller, 4)).status).toBe(207);
    expect(caller.sandbox.state.events).toHaveLength(10);
  });

  test("one larger than the maximum passes an empty window and takes the following ones too", async () => {
    const caller = open({ limits });
    expect((await record(caller)).status).toBe(202);
    expect((await batch(caller, 25)).status).toBe(429);
    caller.sandbox.advance(1_000);
    expect((await batch(caller, 25)).status).toBe(207);
    const { headers } = await batch(caller, 10);
    expect(headers.get("retry-after")).toBe("3");
    caller.sandbox.advance(2_499);
    expect((await batch(caller, 10)).status).toBe(429);
    caller.sandbox.advance(1);
    expect((await batch(caller, 10)).status).toBe(207);
  });

  test("a batch of a wrong size spends a request and no events", async () => {
    const caller = open({ limits });
    expect((await batch(caller, 101)).status).toBe(400);
    expect((await batch(caller, 10)).status).toBe(207);
  });
});
