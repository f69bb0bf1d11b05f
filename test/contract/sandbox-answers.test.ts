import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { samples } from "./samples.ts";

/** Fields of several answers, so that a test can name them. */
interface Body {
  readonly id: string;
  readonly stage: string;
  readonly data: readonly object[];
  readonly total: number;
  readonly skip: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly results: readonly object[];
  readonly scheduled: boolean;
  readonly email: object;
}

const setUp = () => {
  const sandbox = createSandbox();
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await sandbox.fetch(`https://service.test/api/v1${path}`, {
      method,
      headers: { authorization: "Bearer sandbox-key", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // The tests compare the fields themselves; the type only names them.
    const answer = (await response.json()) as Body;
    return { status: response.status, headers: response.headers, body: answer };
  };
  return { sandbox, call };
};

/** Each field with the kind of its value, as the document's tables give them. */
const kinds = (record: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(record)
      .map(([name, value]) => [name, Array.isArray(value) ? "array" : value === null ? "null" : typeof value])
      .sort(),
  );

describe("the sandbox answers in the document's shapes", () => {
  test("a contact", async () => {
    const { call, sandbox } = setUp();
    const company = await call("POST", "/companies", { companyName: "X" });
    const list = await call("POST", "/lists", { name: "X" });
    const { id: _id, externalId, createdAt: _created, updatedAt: _updated, ...fields } = samples.contact;
    const input = { ...fields, leadId: company.body.id, listIds: [list.body.id] };
    const created = await call("POST", "/contacts", input);
    const contact = { email: fields.email, externalId };
    await call("POST", "/events", { name: "x", contact });
    const { body } = await call("GET", `/contacts?search=${fields.email}`);
    expect(created.body).toMatchObject(input);
    expect(kinds(body.data[0] ?? {})).toEqual(kinds(samples.contact));
    expect(kinds(body)).toEqual(kinds(samples.contactPage));
    expect(sandbox.state.contacts).toHaveLength(1);
  });

  test("an event's receipt, and a repeat of it", async () => {
    const { call } = setUp();
    const automation = { name: "a", startsOn: samples.event.name };
    const { body } = await call("POST", "/events", {
      ...samples.event,
      occurredAt: undefined,
      createContact: true,
    });
    const again = await call("POST", "/events", samples.event);
    expect([body, again.body]).toMatchObject([{ duplicate: false }, { duplicate: true }]);
    expect(kinds({ ...body, note: automation.name })).toEqual(kinds(samples.receipt));
    expect(kinds({ ...again.body, note: automation.name })).toEqual(kinds(samples.receipt));
  });

  test("a batch's answer", async () => {
    const { call } = setUp();
    const event = { ...samples.event, occurredAt: undefined, createContact: true };
    await call("POST", "/events", event);
    const { status, body } = await call("POST", "/events/batch", { events: [event, { contact: {} }] });
    expect([status, body.accepted, body.rejected]).toEqual([207, 1, 1]);
    expect(body.results.map(kinds)).toEqual(samples.batchAnswer.results.map(kinds));
  });

  test("a sent email", async () => {
    const { call } = setUp();
    const { status, body } = await call("POST", "/emails", samples.email);
    expect([status, kinds(body)]).toEqual([200, kinds(samples.sentEmail)]);
  });

  test("a scheduled email", async () => {
    const { call } = setUp();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const { status, body } = await call("POST", "/emails", { ...samples.email, sendAt });
    expect([status, body.scheduled]).toEqual([201, true]);
    expect(kinds(body.email)).toEqual(kinds(samples.scheduledEmail));
    expect(body.email).toMatchObject({ status: "SCHEDULED", sendAt });
  });

  test("an error, as JSON, with Retry-After in whole seconds on a 429", async () => {
    const { call } = setUp();
    const missing = await call("PATCH", "/contacts/none", {});
    expect([missing.status, kinds(missing.body)]).toEqual([404, kinds(samples.error)]);
    for (let n = 0; n < 99; n += 1) await call("GET", "/contacts");
    const refused = await call("GET", "/contacts");
    expect([refused.status, kinds(refused.body)]).toEqual([429, kinds(samples.error)]);
    expect(refused.headers.get("retry-after")).toMatch(/^([1-9]|10)$/);
  });
});

describe("the sandbox gives no response that a caller could misread", () => {
  test("the last page is reached when skip and the records of the page add up to the total", async () => {
    const { sandbox, call } = setUp();
    sandbox.seedContacts(5);
    const { body } = await call("GET", "/contacts?skip=3&limit=2");
    expect(body.skip + body.data.length).toBe(body.total);
  });

  test("stages are matched as the contact field writes them", async () => {
    const { call } = setUp();
    const { body } = await call("POST", "/contacts", { email: samples.email.to, stage: "UNSUBSCRIBED" });
    expect(body.stage).toBe("UNSUBSCRIBED");
    expect((await call("POST", "/emails", { ...samples.email, force: false })).status).toBe(400);
    expect((await call("POST", "/emails", samples.email)).status).toBe(200);
  });
});
