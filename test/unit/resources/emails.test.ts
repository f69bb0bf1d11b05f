import { expect, test } from "vitest";
import type { EmailInput, ScheduledEmailInput, ScheduledEmailPatch } from "../../../src/index.ts";
import { type Served, served } from "./served.ts";

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", html: "<p>Hello</p>" };
const sendAt = "2026-03-02T09:00:00+02:00";
const receipt = { id: "m-1", to: "ada@example.com", subject: "Welcome", tracked: true };
const kept = { id: "se-1", status: "SCHEDULED", sendAt: "2026-03-02T07:00:00.000Z" };
const lost = new Error("socket hang up");

test("an email is sent as given, and its receipt is returned", async () => {
  const { client, requests } = served([[200, receipt]]);
  const whole = { ...email, signatureId: "default", force: true };
  expect(await client.emails.send(whole)).toEqual(receipt);
  expect(requests).toEqual([{ method: "POST", path: "/api/v1/emails", body: whole }]);
});

const refused: readonly [string, object, string][] = [
  ["html and text", { ...email, text: "Hello" }, "must have exactly one of html and text"],
  ["neither html nor text", { to: email.to, subject: "x" }, "must have exactly one of html and text"],
  ["sendAt", { ...email, sendAt }, "sendAt: is not allowed here: to send later, use emails.schedule"],
  ["no recipient", { subject: "x", text: "x" }, "to: must be an email address"],
  ["a blank subject", { ...email, subject: " " }, "subject: must not be empty"],
];

test.each(refused)("an email with %s is refused before anything is sent", async (_what, input, message) => {
  const { client, requests } = served([]);
  await expect(client.emails.send(input as EmailInput)).rejects.toThrow(message);
  await expect(client.emails.send(input as EmailInput, { once: "k" })).rejects.toThrow(message);
  expect(requests).toEqual([]);
});

test("a scheduled email is sent with its time in UTC", async () => {
  const { client, requests } = served([
    [201, { scheduled: true, ...kept }],
    [201, { scheduled: true, ...kept }],
  ]);
  await client.emails.schedule({ ...email, sendAt });
  await client.emails.schedule({ ...email, sendAt: new Date(sendAt) });
  expect(requests.map(({ body }) => body)).toEqual([
    { ...email, sendAt: "2026-03-02T07:00:00.000Z" },
    { ...email, sendAt: "2026-03-02T07:00:00.000Z" },
  ]);
});

const unfit: readonly [string, unknown][] = [
  ["is missing", undefined],
  ["has no zone", "2026-03-02T09:00:00"],
  ["is no time", "soon"],
  ["is an invalid Date", new Date("soon")],
];

test.each(unfit)("scheduling is refused when sendAt %s", async (_what, moment) => {
  const { client, requests } = served([]);
  const input = { ...email, sendAt: moment } as ScheduledEmailInput;
  const refusal = /sendAt: must (be a Date, .* or an ISO 8601 string with|include) a time zone/;
  await expect(client.emails.schedule(input)).rejects.toThrow(refusal);
  await expect(client.emails.schedule(input, { once: "k" })).rejects.toThrow(refusal);
  expect(requests).toEqual([]);
});

const shapes: readonly [string, object][] = [
  ["on top", { scheduled: true, ...kept }],
  ["under email", { scheduled: true, email: kept }],
  ["under scheduled", { scheduled: kept }],
  ["under a name of its own", { scheduled: true, message: kept }],
  ["two deep", { data: { scheduled: true, item: kept } }],
  ["beside a contact", { scheduled: true, contact: { id: "c-1" }, message: kept }],
];

test.each(shapes)("a scheduled email that is answered %s has its id on top", async (_where, body) => {
  const { client } = served([
    [201, body],
    [200, body],
    [200, [body]],
  ]);
  expect(await client.emails.schedule({ ...email, sendAt })).toMatchObject(kept);
  expect(await client.emails.scheduled.update("se-1", { subject: "New" })).toMatchObject(kept);
  expect(await client.emails.scheduled.list()).toMatchObject({ data: [kept] });
});

test.each<[string, object]>([
  ["beside the records", { data: [kept], total: 9 }],
  ["of their own object", { data: [kept], meta: { total: 9 } }],
  ["beside an envelope", { data: { scheduledEmails: [kept] }, pagination: { total: 9 } }],
  ["beside records of any name", { errors: "none", planned: [kept], total: 9 }],
])("a page of scheduled emails is read with counts %s", async (_where, body) => {
  const { client } = served([[200, body]]);
  expect(await client.emails.scheduled.list()).toMatchObject({ data: [kept], total: 9, skip: 0 });
});

test.each([{ result: { note: "none" } }, { data: { result: {} }, result: { data: {} } }])(
  "a page without any records is handed over as it came: %j",
  async (body) => {
    const { client } = served([[200, body]]);
    expect(await client.emails.scheduled.list()).toMatchObject(body);
  },
);

test("neither a lost send nor a lost schedule is repeated", async () => {
  const { client, requests } = served([lost, lost]);
  await expect(client.emails.send(email)).rejects.toMatchObject({ outcome: "unknown", attempts: 1 });
  await expect(client.emails.schedule({ ...email, sendAt })).rejects.toMatchObject({ outcome: "unknown" });
  expect(requests).toHaveLength(2);
});

test("what the mail account refused has not gone out", async () => {
  const { client } = served([[502, { error: "The mailbox is full." }]]);
  await expect(client.emails.send(email)).rejects.toMatchObject({
    name: "MailAccountError",
    message: "The mailbox is full.",
    outcome: "not-applied",
  });
});

test("scheduled emails are listed page by page to the end", async () => {
  const page = (ids: string[], skip: number): Served => [
    200,
    { data: ids.map((id) => ({ id })), total: 3, skip, limit: 2 },
  ];
  const { client, requests } = served([page(["a", "b"], 0), page(["a", "b", "c"], 0)]);
  const all = await client.emails.scheduled.list({ limit: 2 }).toArray();
  expect(all.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(requests[0]).toMatchObject({ method: "GET", path: "/api/v1/emails/scheduled?limit=2&skip=0" });
});

test("a scheduled email is changed at its own path", async () => {
  const { client, requests } = served([[200, kept]]);
  await client.emails.scheduled.update("se-1", { sendAt: new Date(sendAt) });
  expect(requests).toEqual([
    { method: "PATCH", path: "/api/v1/emails/scheduled/se-1", body: { sendAt: "2026-03-02T07:00:00.000Z" } },
  ]);
});

test("a change to html and text at once is refused", async () => {
  const { client } = served([]);
  const patch = { html: "<p>x</p>", text: "x" } as ScheduledEmailPatch;
  await expect(client.emails.scheduled.update("se-1", patch)).rejects.toThrow("at most one of html and text");
});

const cancelled: readonly [string, Served][] = [
  ["204", [204]],
  ["a body", [200, { cancelled: true }]],
];

test.each(cancelled)("a cancel that is answered with %s resolves to nothing", async (_what, answer) => {
  const { client, requests } = served([answer]);
  expect(await client.emails.scheduled.cancel("se-1")).toBeUndefined();
  expect(requests).toEqual([{ method: "DELETE", path: "/api/v1/emails/scheduled/se-1", body: undefined }]);
});

test("a cancel repeated after a lost response, and then not found, is done", async () => {
  const { client, clock } = served([lost, [404, { error: "No such email." }]]);
  expect(await clock.until(client.emails.scheduled.cancel("se-1"))).toBeUndefined();
});

test("a cancel that finds nothing the first time is an error", async () => {
  const { client } = served([[404, { error: "No such email." }]]);
  await expect(client.emails.scheduled.cancel("se-1")).rejects.toMatchObject({ status: 404 });
});
