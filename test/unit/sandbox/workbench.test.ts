import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { Listening, ListenOptions, SandboxOptions } from "../../../src/sandbox/index.ts";
import { messageSource } from "../../../src/sandbox/workbench/message.ts";
import { type Caller, open } from "./client.ts";

let server: Listening | undefined;
afterEach(() => server?.close());

interface Bench extends Caller {
  readonly url: string;
  /** Asks below `/_sandbox/`, and gives the status and the JSON. */
  ask(path: string, method?: string, body?: unknown): Promise<[status: number, body: unknown]>;
}

const bench = async (options: SandboxOptions = {}, where: ListenOptions = {}): Promise<Bench> => {
  const opened = open(options);
  server = await opened.sandbox.listen(where);
  const { url } = server;
  return {
    ...opened,
    url,
    ask: async (path, method = "GET", body) => {
      const init = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(`${url}/_sandbox/${path}`, {
        method,
        ...(body === undefined ? {} : init),
      });
      return [response.status, await response.json()];
    },
  };
};

const ada = { email: "ada@example.com" };

describe("the controls over HTTP", () => {
  test("make the next call fail, and take it back", async () => {
    const { ask, call } = await bench();
    const plan = { operation: "contacts.list", with: { status: 503 } };
    expect(await ask("fail", "POST", plan)).toEqual([200, { plans: [{ id: 1, options: plan, hits: 0 }] }]);
    expect((await call("GET", "/api/v1/contacts")).status).toBe(503);
    expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
    await ask("fail", "POST", plan);
    expect(await ask("fail/2", "DELETE")).toEqual([200, { plans: [] }]);
    expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
    expect((await ask("fail/2", "DELETE"))[0]).toBe(404);
  });

  test("move the clock on, stop it, and let it go on", async () => {
    const { ask, sandbox } = await bench();
    expect(await ask("advance", "POST", { ms: 60_000 })).toEqual([200, { at: "2026-03-01T12:01:00.000Z" }]);
    expect(await ask("freeze", "POST")).toEqual([200, { frozen: true }]);
    expect(await ask("freeze", "POST", { frozen: false })).toEqual([200, { frozen: false }]);
    expect(sandbox.addContact(ada).createdAt).toBe("2026-03-01T12:01:00.000Z");
  });

  test("change what is checked again when a scheduled email goes out", async () => {
    const { ask, call, sandbox } = await bench({ signatures: ["sig-1"] });
    const email = { to: ada.email, subject: "Hi", text: "Hi", sendAt: "2026-03-01T13:00:00Z" };
    for (const more of [{ signatureId: "sig-1" }, { to: "eve@example.com" }, {}])
      await call("POST", "/api/v1/emails", { ...email, ...more });
    expect(await ask("workspace", "POST", { signatures: [], tracking: false })).toEqual([200, {}]);
    expect(await ask("do-not-email", "POST", { address: "Eve@example.com" })).toEqual([200, {}]);
    expect(await ask("mail-accounts/mail-1", "POST", { dailyLimit: 1 })).toEqual([200, {}]);
    await call("POST", "/api/v1/emails", { ...email, sendAt: undefined });
    sandbox.advance(2 * 3_600_000);
    const statuses = () => [...sandbox.state.scheduled.values()].map(({ status }) => status);
    expect(statuses()).toEqual(["FAILED", "FAILED", "SCHEDULED"]);
    await ask("mail-accounts/mail-1", "POST", { dailyLimit: 1, workspace: "default" });
    sandbox.advance(0);
    expect(statuses()).toEqual(["FAILED", "FAILED", "SENT"]);
    expect(sandbox.state.emails).toMatchObject([{ tracked: false }, { to: ada.email, tracked: false }]);
    expect((await ask("mail-accounts/mail-1", "POST", { dailylimit: 1 }))[0]).toBe(400);
    expect((await ask("workspace", "POST", { workspace: "none" }))[0]).toBe(400);
  });

  test("seed, reset, save and load", async () => {
    const { ask, sandbox } = await bench();
    expect(await ask("seed", "POST", { contacts: 3 })).toEqual([200, { contacts: 3 }]);
    const [, snapshot] = await ask("snapshot");
    expect(await ask("reset", "POST")).toEqual([200, {}]);
    expect(sandbox.state.contacts).toEqual([]);
    expect(await ask("snapshot", "PUT", snapshot)).toEqual([200, {}]);
    expect(sandbox.state.contacts).toHaveLength(3);
  });

  test.each([
    [
      "fail",
      "POST",
      { with: "reset" },
      /with must be "reset-before", .*, got "reset" \(did you mean "reset-before"\?\)$/,
    ],
    ["advance", "POST", {}, /ms must be a number of milliseconds, at least 0, .*, got undefined/],
    ["advance", "POST", { ms: -1 }, /at least 0/],
    ["advance", "POST", { ms: 1e300 }, /\(to the year 275760\), got 1e\+300/],
    ["advance", "POST", { ms: 5, hours: 1 }, /there is no option "hours"/],
    [
      "seed",
      "POST",
      { contact: 1 },
      /there is no option "contact" \(did you mean "contacts"\?\); contacts must be a whole number/,
    ],
    ["freeze", "POST", { frozen: 1 }, /frozen must be true or false/],
    ["snapshot", "PUT", { format: "other" }, /format must be "touchpoint-sandbox"/],
    ["contacts?workspace=none", "GET", undefined, /workspace must be "default", got "none"/],
  ])("%s %s %j is refused with what is wrong", async (path, method, body, why) => {
    const { ask } = await bench();
    expect(await ask(path, method, body)).toEqual([400, { error: expect.stringMatching(why) }]);
  });

  test("an id that cannot be decoded is a 400", async () => {
    const { ask } = await bench();
    expect(await ask("emails/%E0%A4%A")).toEqual([400, { error: expect.stringContaining("URI") }]);
  });

  test("what is not there is a 404, also a file outside the page's folder", async () => {
    const { ask, url } = await bench();
    for (const path of ["nothing", "requests/9", "emails/none", "page/..%2Findex.ts", "page/none.js"])
      expect([path, (await ask(path))[0]]).toEqual([path, 404]);
    expect((await fetch(`${url}/_sandbox/page/workbench.js`)).headers.get("content-type")).toMatch(
      /javascript/,
    );
  });
});

describe("who may ask", () => {
  const status = (url: string, path: string, headers: Record<string, string>, method = "GET") =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${url}${path}`, { method, headers });
      asked
        .on("response", (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });

  test("programs and the page itself, not a page of another origin", async () => {
    const { url } = await bench();
    const own = { origin: url, "sec-fetch-site": "same-origin" };
    expect(await status(url, "/_sandbox/state", {})).toBe(200);
    expect(await status(url, "/_sandbox/reset", own, "POST")).toBe(200);
    for (const headers of [
      { origin: "https://evil.test" },
      { origin: "null" },
      { origin: "http://localhost:1" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ])
      for (const [method, path] of [["POST", "reset"] as const, ["GET", "state"] as const])
        expect([headers, await status(url, `/_sandbox/${path}`, headers, method)]).toEqual([headers, 403]);
  });

  test("a link elsewhere may lead to the page", async () => {
    const { url } = await bench();
    expect(await status(url, "/", { "sec-fetch-site": "cross-site" })).toBe(200);
  });

  test("not beyond this machine, unless asked for", async () => {
    const host = "0.0.0.0";
    const closed = await bench({}, { host });
    const local = closed.url.replace(host, "127.0.0.1");
    for (const path of ["/", "/_sandbox/state"]) {
      const response = await fetch(local + path);
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("--workbench")]);
    }
    await server?.close();
    await bench({}, { host, workbench: true });
    expect((await fetch(`http://127.0.0.1:${server?.port}/_sandbox/state`)).status).toBe(200);
    await server?.close();
    const off = await bench({}, { workbench: false });
    expect((await fetch(`${off.url}/`)).status).toBe(404);
  });
});

describe("what it shows", () => {
  test("is not counted, and names no key", async () => {
    const { ask, url, call, sandbox } = await bench({ limits: {} });
    await call("GET", "/api/v1/contacts");
    const texts = [await (await fetch(url)).text()];
    for (const path of ["state", "requests", "requests/1", "budgets", "snapshot"])
      texts.push(JSON.stringify(await ask(path)));
    expect(texts.join()).not.toContain("sandbox-key");
    expect(texts.join()).toContain("key 1");
    expect(sandbox.state.counts.requests).toBe(1);
  });

  test("requests with what was sent and answered, found by kind, operation and words", async () => {
    const { ask, call, sandbox } = await bench();
    await call("POST", "/api/v1/contacts", ada);
    await call("POST", "/api/v1/contacts", ada);
    sandbox.fail({ with: "reset-after-apply" });
    await call("PATCH", "/api/v1/contacts/x", {}).catch(() => {});
    const numbers = async (query: string) => {
      const [, body] = await ask(`requests?${query}`);
      // The list above says what is in it.
      return (body as { items: { number: number }[] }).items.map(({ number }) => number);
    };
    expect(await numbers("")).toEqual([3, 2, 1]);
    expect(await numbers("kind=ok")).toEqual([1]);
    expect(await numbers("kind=refused")).toEqual([2]);
    expect(await numbers("kind=failed")).toEqual([3]);
    expect(await numbers("kind=fault")).toEqual([3]);
    expect(await numbers("operation=contacts.create")).toEqual([2, 1]);
    expect(await numbers("search=ADA@")).toEqual([2, 1]);
    expect(await numbers("search=already+has")).toEqual([2]);
    expect((await ask("requests/2"))[1]).toMatchObject({
      method: "POST",
      target: "/api/v1/contacts",
      status: 409,
      applied: false,
      body: ada,
      answer: {
        body: '{"error":"Another contact already has this email."}',
        headers: { "content-type": "application/json; charset=utf-8" },
      },
    });
  });

  test("an answer is kept up to 65,536 characters, with its length", async () => {
    const { ask, sandbox, call } = await bench();
    sandbox.seedContacts(200, () => ({ notes: "x".repeat(1_000) }));
    const { body } = await call("GET", "/api/v1/contacts?limit=200");
    const { length } = JSON.stringify(body);
    const [, shown] = await ask("requests/1");
    expect(shown).toMatchObject({ answer: { length } });
    expect((shown as { answer: { body: string } }).answer.body).toHaveLength(65_536);
  });

  test("emails that left and that wait, with their parts", async () => {
    const { ask, call, url, sandbox } = await bench();
    await call("POST", "/api/v1/emails", { to: ada.email, subject: "Hi", html: "<p>Hello <b>Ada</b></p>" });
    const sendAt = "2026-03-01T13:00:00Z";
    await call("POST", "/api/v1/emails", { to: ada.email, subject: "Later", text: "Soon", sendAt });
    const [sent] = sandbox.state.emails;
    const [scheduled] = sandbox.state.scheduled.keys();
    expect((await ask("emails"))[1]).toMatchObject({
      items: [
        { id: scheduled, status: "SCHEDULED", subject: "Later", at: "2026-03-01T13:00:00.000Z" },
        { id: sent?.id, status: "SENT", subject: "Hi", preview: "Hello Ada" },
      ],
      more: false,
    });
    expect((await ask("emails?search=soon"))[1]).toMatchObject({ items: [{ subject: "Later" }] });
    expect((await ask(`emails/${sent?.id}`))[1]).toMatchObject({
      html: "<p>Hello <b>Ada</b></p>",
      text: "Hello Ada",
      contactId: sent?.contactId,
      headers: expect.arrayContaining([["Subject", "Hi"]]),
    });
    const html = await fetch(`${url}/_sandbox/emails/${sent?.id}/html`);
    expect(await html.text()).toBe("<p>Hello <b>Ada</b></p>");
    expect(html.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    const source = await (await fetch(`${url}/_sandbox/emails/${sent?.id}/source`)).text();
    expect(source).toContain("Subject: Hi\r\n");
    expect((await ask(`emails/${scheduled}`))[1]).toMatchObject({ status: "SCHEDULED", text: "Soon" });
  });

  test("a contact and an event with their histories", async () => {
    const { ask, call, sandbox } = await bench();
    const { body } = await call("POST", "/api/v1/contacts", ada);
    const { id } = body as { id: string };
    await call("PATCH", `/api/v1/contacts/${id}`, { name: "Ada Lovelace" });
    const event = { id: "e-1", name: "order.placed", contact: ada, properties: { total: 12 } };
    await call("POST", "/api/v1/events", event);
    await call("POST", "/api/v1/events/batch", { events: [event] });
    await call("POST", "/api/v1/emails", { to: ada.email, subject: "Thanks", text: "!" });
    const [recorded] = sandbox.state.events;
    const history = async (path: string) =>
      ((await ask(path))[1] as { history: { what: string; link?: string }[] }).history
        .map(({ what, link }) => `${what} ${link ?? ""}`)
        .sort();
    expect(await history(`contacts/${id}`)).toEqual([
      "Created ",
      `Email sent: Thanks emails/${sandbox.state.emails[0]?.id}`,
      `Event order.placed events/${recorded?.id}`,
      "contacts.create: 201 requests/1",
      "contacts.update: 200 requests/2",
    ]);
    expect(await history(`events/${recorded?.id}`)).toEqual([
      "Happened ",
      "Recorded: PROCESSED ",
      "events.record: 202 requests/3",
      "events.recordBatch: 207 requests/4",
    ]);
    expect((await ask("contacts?search=LOVE"))[1]).toMatchObject({ items: [{ id, name: "Ada Lovelace" }] });
    expect((await ask("events?search=total"))[1]).toMatchObject({
      items: [{ person: ada.email, repeats: 1 }],
    });
    expect((await ask("events?search=other"))[1]).toEqual({ items: [], more: false });
  });

  test("of many records the newest 200, and that there are more", async () => {
    const { ask, sandbox } = await bench();
    sandbox.seedContacts(201);
    const [, found] = await ask("contacts");
    expect(found).toMatchObject({ more: true });
    expect((found as { items: unknown[] }).items).toHaveLength(200);
  });

  test("how much of each limit was used, over time, and every 429", async () => {
    const { ask, call, sandbox } = await bench({ limits: { requests: { max: 2, windowMs: 1_000 } } });
    const at = Date.parse("2026-03-01T12:00:00.000Z");
    await ask("budgets");
    for (let n = 0; n < 3; n += 1) await call("GET", "/api/v1/contacts");
    await ask("budgets");
    sandbox.advance(1_000);
    const [, body] = await ask("budgets");
    const { series, refusals } = body as {
      series: { owner: string; limit: string; points: number[][] }[];
      refusals: number[];
    };
    const requests = series.find(({ owner, limit }) => owner === "key 1" && limit === "requests");
    expect(requests).toMatchObject({ max: 2, windowMs: 1_000, used: 0 });
    expect(requests?.points.map((point) => point.join())).toEqual(
      expect.arrayContaining([`${at},0`, `${at},2`, `${at + 1_000},0`]),
    );
    expect(refusals).toEqual([at]);
  });

  test("changes as they come, as server-sent events, until the server closes", async () => {
    const { url, call, sandbox } = await bench();
    const response = await fetch(`${url}/_sandbox/stream`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse((await reader?.read())?.value?.split("data: ")[1] ?? "null");
    expect(await next()).toMatchObject({ counts: { requests: 0 }, frozen: false, plans: [] });
    await call("GET", "/api/v1/contacts");
    expect(await next()).toMatchObject({ counts: { requests: 1 } });
    sandbox.reset();
    expect(await next()).toMatchObject({ counts: { requests: 0 } });
    await server?.close();
    await expect(reader?.read()).rejects.toThrow();
  });
});

test("a message's source is what mail programs read", () => {
  const email = {
    id: "msg_1",
    to: "ada@example.com",
    cc: [],
    from: "Jürgen <j@example.com>",
    subject: "Grüße,\r\nBcc: eve@example.com und noch vieles mehr aus der schönen Stadt Köln",
    sentAt: "2026-03-01T12:00:00.000Z",
    tracked: false,
    contactId: "ct_1",
    contactCreated: false,
    html: "<p>Hallo</p>",
    text: "Hallo",
    mailAccount: "mail-1",
  };
  const [head = "", ...bodies] = messageSource(email).split("\r\n\r\n");
  const lines = head.split("\r\n");
  expect(lines.filter((line) => /^bcc:/i.test(line))).toEqual([]);
  expect(lines).toContain("From: Jürgen <j@example.com>");
  expect(lines).toContain("Date: Sun, 01 Mar 2026 12:00:00 +0000");
  expect(bodies.join("\r\n\r\n")).toContain("<p>Hallo</p>");
  expect(messageSource({ ...email, html: undefined as never })).toMatch(
    /Content-Type: text\/plain[\s\S]*\r\nHallo\r\n$/,
  );
});
