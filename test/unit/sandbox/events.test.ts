import { describe, expect, test } from "vitest";
import { open } from "./client.ts";

const path = "/api/v1/events";
const hour = 3_600_000;
const start = Date.parse("2026-03-01T12:00:00.000Z");
const ago = (ms: number) => new Date(start - ms).toISOString();
const event = { name: "order.placed", contact: { email: "ada@example.com" } };

describe("recording an event", () => {
  test("an unknown address becomes a contact: 202 with the whole receipt", async () => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", path, { ...event, id: "e1", properties: { total: 3 } });
    expect(status).toBe(202);
    const [recorded] = sandbox.state.events;
    expect(body).toEqual({
      id: recorded?.id,
      name: "order.placed",
      contactId: sandbox.state.contacts[0]?.id,
      outcome: "PROCESSED",
      duplicate: false,
      createdContact: true,
      runsStarted: 0,
      runsExited: 0,
      runsResumed: 0,
      runsConverted: 0,
      note: null,
    });
    expect(sandbox.state.contacts.map(({ email }) => email)).toEqual(["ada@example.com"]);
    expect(recorded).toMatchObject({ callerId: "e1", properties: { total: 3 }, repeats: 0 });
    expect(recorded?.id).not.toBe("e1");
  });

  test("a repeated id answers with the first event and duplicate: true, and records nothing", async () => {
    const { call, sandbox } = open();
    const first = await call("POST", path, { ...event, id: "e1" });
    const again = await call("POST", path, { ...event, id: "e1", name: "something.else" });
    expect(again).toMatchObject({ status: 202, body: { ...Object(first.body), duplicate: true } });
    expect(sandbox.state.events).toMatchObject([{ name: "order.placed", repeats: 1 }]);
  });

  test("a time without a zone is refused", async () => {
    const { call } = open();
    expect(await call("POST", path, { ...event, occurredAt: "2026-03-01T09:00:00" })).toMatchObject({
      status: 400,
      body: { error: "occurredAt must have a time zone." },
    });
  });

  test("two events without an id are two events", async () => {
    const { call, sandbox } = open();
    await call("POST", path, event);
    await call("POST", path, event);
    expect(new Set(sandbox.state.events.map(({ id }) => id)).size).toBe(2);
  });

  test("the same id in another workspace is another event", async () => {
    const { call, sandbox } = open({ apiKeys: ["sandbox-key", { key: "other-key", workspace: "other" }] });
    await call("POST", path, { ...event, id: "e1" });
    const other = await call("POST", path, { ...event, id: "e1" }, { authorization: "Bearer other-key" });
    expect(other.body).toMatchObject({ duplicate: false });
    expect([sandbox.state.events.length, sandbox.stateOf("other").events.length]).toEqual([1, 1]);
  });

  test("with createContact false an unknown address is NO_CONTACT", async () => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", path, { ...event, createContact: false });
    expect(status).toBe(202);
    expect(body).toMatchObject({ outcome: "NO_CONTACT", createdContact: false });
    expect(body).not.toHaveProperty("contactId");
    expect(sandbox.state.contacts).toEqual([]);
  });

  test("an externalId is saved, and identifies the person from then on", async () => {
    const { call, sandbox } = open();
    await call("POST", path, { ...event, contact: { email: "ada@example.com", externalId: "u-1" } });
    const { body } = await call("POST", path, { ...event, contact: { externalId: "u-1" } });
    expect(sandbox.state.contacts).toMatchObject([{ email: "ada@example.com", externalId: "u-1" }]);
    expect(body).toMatchObject({ contactId: sandbox.state.contacts[0]?.id, createdContact: false });
  });

  test("contactFields are set on the person", async () => {
    const { call, sandbox } = open();
    await call("POST", path, { ...event, contactFields: { name: "Ada", customFields: { plan: "pro" } } });
    await call("POST", path, { ...event, contactFields: { title: "Countess" } });
    expect(sandbox.state.contacts).toMatchObject([
      { name: "Ada", title: "Countess", customFields: { plan: "pro" } },
    ]);
  });

  test("an email and an externalId of two people are a 409", async () => {
    const { call, sandbox } = open();
    sandbox.addContact({ email: "ada@example.com" });
    sandbox.addContact({ email: "bob@example.com", externalId: "u-2" });
    const contact = { email: "ada@example.com", externalId: "u-2" };
    expect(await call("POST", path, { ...event, contact })).toMatchObject({
      status: 409,
      body: { error: "The email and the externalId belong to two different contacts." },
    });
    expect(sandbox.state.events).toEqual([]);
  });

  test("an unknown contact id, also one of another workspace, is a 404", async () => {
    const { call, sandbox } = open({ workspaces: { other: {} } });
    const other = sandbox.addContact({ email: "ada@example.com" }, "other");
    for (const id of ["ct_none", other.id]) {
      expect((await call("POST", path, { ...event, contact: { id } })).status).toBe(404);
    }
  });

  test.each([
    [{ contact: event.contact }, "name is missing."],
    [{ ...event, name: "service.bounced" }, "name starts with the reserved prefix service.."],
    [{ name: "x" }, "contact is missing."],
    [{ name: "x", contact: {} }, "contact must have an email, an externalId or an id."],
    [{ name: "x", contact: "ada@example.com" }, "contact must be an object."],
    [{ name: "x", contact: { email: "ada" } }, "contact.email is not a valid email address."],
    [{ ...event, properties: [] }, "properties must be an object."],
    [{ ...event, properties: { password: "x" } }, "properties.password looks like a secret and is refused."],
    [
      { ...event, properties: { Card_Number: 1 } },
      "properties.Card_Number looks like a secret and is refused.",
    ],
    [
      { ...event, properties: { cardNumber: 1 } },
      "properties.cardNumber looks like a secret and is refused.",
    ],
    [{ ...event, properties: { SSN: 1 } }, "properties.SSN looks like a secret and is refused."],
    [{ ...event, properties: { a: [{ ssn: 1 }] } }, "properties.ssn looks like a secret and is refused."],
    [
      { ...event, properties: { a: "x".repeat(32_768) } },
      "properties is too big: at most 32768 bytes of JSON.",
    ],
    [{ ...event, occurredAt: "2026-03-01T12:00:00.001Z" }, "occurredAt is in the future."],
    [{ ...event, occurredAt: "yesterday" }, "occurredAt must be an ISO 8601 time."],
    [{ ...event, createContact: "no" }, "createContact must be true or false."],
    [{ ...event, contactFields: { name: 7 } }, "contactFields.name must be a string."],
  ])("%j is a 400 that records nothing", async (body, error) => {
    const { call, sandbox } = open();
    const reply = await call("POST", path, body);
    expect([reply.status, reply.body]).toEqual([400, { error }]);
    expect([sandbox.state.events, sandbox.state.contacts]).toEqual([[], []]);
  });

  test("72 hours are young enough, a millisecond more is TOO_OLD", async () => {
    const { call } = open();
    const outcomes = [];
    for (const occurredAt of [ago(0), ago(72 * hour), ago(72 * hour + 1)]) {
      outcomes.push((await call("POST", path, { ...event, occurredAt })).body);
    }
    expect(outcomes).toMatchObject([
      { outcome: "PROCESSED" },
      { outcome: "PROCESSED" },
      { outcome: "TOO_OLD" },
    ]);
  });
});

describe("a batch", () => {
  test("each event succeeds or fails on its own, in the order sent: 207", async () => {
    const { call, sandbox } = open();
    const { status, body } = await call("POST", `${path}/batch`, {
      events: [
        { ...event, id: "e1" },
        { name: "x" },
        { ...event, id: "e1" },
        { ...event, contact: { id: "no" } },
      ],
    });
    expect(status).toBe(207);
    const [recorded] = sandbox.state.events;
    expect(body).toEqual({
      accepted: 2,
      rejected: 2,
      results: [
        { status: 202, id: recorded?.id, name: "order.placed", outcome: "PROCESSED", runsStarted: 0 },
        { status: 400, error: "contact is missing." },
        {
          status: 202,
          id: recorded?.id,
          name: "order.placed",
          outcome: "PROCESSED",
          runsStarted: 0,
          duplicate: true,
        },
        { status: 404, error: "No contact with that id in this workspace." },
      ],
    });
    expect(sandbox.state.events).toHaveLength(1);
  });

  test.each([
    [{ events: [] }, "events must contain 1 to 100 events, got 0."],
    [{ events: Array(101).fill(event) }, "events must contain 1 to 100 events, got 101."],
    [{ events: event }, "events must be an array."],
    [{}, "events must be an array."],
  ])("of a wrong size or shape is a 400 (%#)", async (body, error) => {
    const { call } = open();
    const reply = await call("POST", `${path}/batch`, body);
    expect([reply.status, reply.body]).toEqual([400, { error }]);
  });
});

describe("automations", () => {
  const counts = (body: unknown) => {
    // The receipt as a whole is checked above.
    const { runsStarted, runsExited, runsResumed, runsConverted, note } = body as Record<string, unknown>;
    return [runsStarted, runsExited, runsResumed, runsConverted, note];
  };
  const dunning = {
    name: "dunning",
    startsOn: "invoice.sent",
    waitsFor: "invoice.seen",
    exitsOn: "invoice.void",
    goalOn: "invoice.paid",
    correlateBy: "invoice",
  };
  const at = (name: string, invoice: number, more = {}) => ({
    ...event,
    name,
    properties: { invoice },
    ...more,
  });

  test("start, resume, reach a goal and exit, tied together by a property", async () => {
    const { call } = open({ automations: [dunning] });
    const seen = [];
    for (const [name, invoice] of [
      ["invoice.sent", 1],
      ["invoice.sent", 2],
      ["invoice.seen", 2],
      ["invoice.seen", 1],
      ["invoice.seen", 1],
      ["invoice.paid", 1],
      ["invoice.sent", 3],
      ["invoice.void", 3],
    ] as const) {
      seen.push(counts((await call("POST", path, at(name, invoice))).body));
    }
    expect(seen).toEqual([
      [1, 0, 0, 0, null],
      [0, 0, 0, 0, "The person is already in a run of dunning."],
      [0, 0, 0, 0, null],
      [0, 0, 1, 0, null],
      [0, 0, 0, 0, null],
      [0, 1, 0, 1, null],
      [1, 0, 0, 0, null],
      [0, 1, 0, 0, null],
    ]);
  });

  test("an old event starts and resumes nothing, but still ends runs and reaches goals", async () => {
    const { call } = open({ automations: [dunning] });
    const old = { occurredAt: ago(73 * hour) };
    await call("POST", path, at("invoice.sent", 1));
    const note = "The event is too old to start anything.";
    expect(counts((await call("POST", path, at("invoice.seen", 1, old))).body)).toEqual([0, 0, 0, 0, note]);
    expect(counts((await call("POST", path, at("invoice.paid", 1, old))).body)).toEqual([0, 1, 0, 1, note]);
    expect(counts((await call("POST", path, at("invoice.sent", 1, old))).body)).toEqual([0, 0, 0, 0, note]);
  });

  test("an event that only a transactional automation is young enough for starts and resumes no other", async () => {
    const { call } = open({
      automations: [
        { name: "welcome", startsOn: "signed.up", waitsFor: "order.placed" },
        { name: "thanks", startsOn: "order.placed" },
        { name: "receipt", startsOn: "order.placed", transactional: true },
        { name: "delivery", startsOn: "signed.up", waitsFor: "order.placed", transactional: true },
      ],
    });
    await call("POST", path, { ...event, name: "signed.up" });
    const old = { ...event, name: "order.placed", occurredAt: ago(100 * hour) };
    expect((await call("POST", path, old)).body).toMatchObject({
      outcome: "PROCESSED",
      runsStarted: 1,
      runsResumed: 1,
    });
  });

  test("an event that a waiting transactional automation is young enough for is processed", async () => {
    const waiting = {
      name: "delivery",
      startsOn: "signed.up",
      waitsFor: "order.placed",
      transactional: true,
    };
    const { call } = open({ automations: [waiting] });
    await call("POST", path, { ...event, name: "signed.up" });
    const old = { ...event, name: "order.placed", occurredAt: ago(100 * hour) };
    const { body } = await call("POST", path, old);
    expect(body).toMatchObject({ outcome: "PROCESSED", runsResumed: 1, note: null });
    const older = { ...event, name: "order.placed", occurredAt: ago(168 * hour + 1) };
    expect((await call("POST", path, older)).body).toMatchObject({ outcome: "TOO_OLD", runsResumed: 0 });
  });

  test("an event that starts one automation, in another of which the person is already, has no note", async () => {
    const { call } = open({
      automations: [
        { name: "welcome", startsOn: "order.placed", goalOn: "order.paid" },
        { name: "receipt", startsOn: "order.placed" },
      ],
    });
    const seen = [];
    for (let times = 0; times < 2; times += 1) seen.push(counts((await call("POST", path, event)).body));
    expect(seen).toEqual([
      [2, 0, 0, 0, null],
      [1, 0, 0, 0, null],
    ]);
  });

  test("a transactional automation starts on events up to 7 days old", async () => {
    const { call } = open({
      automations: [{ name: "receipt", startsOn: "order.placed", transactional: true }],
    });
    const replies = [];
    for (const age of [73 * hour, 168 * hour, 168 * hour + 1]) {
      replies.push((await call("POST", path, { ...event, occurredAt: ago(age) })).body);
    }
    expect(replies).toMatchObject([
      { outcome: "PROCESSED", runsStarted: 1 },
      { outcome: "PROCESSED", runsStarted: 1 },
      { outcome: "TOO_OLD", runsStarted: 0 },
    ]);
  });
});
