import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { axeViolations, launch } from "./support/browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

let sandbox: Sandbox;
let server: Listening;
let client: Client;
let page: Page;
/** What the browser complains of, and what the page asks of other origins. */
let trouble: string[];

const openPage = async (options: Parameters<Browser["newContext"]>[0] = {}): Promise<void> => {
  const context = await browser.newContext({ viewport: { width: 1_400, height: 860 }, ...options });
  page = await context.newPage();
  trouble = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(error.message));
  const isForeign = (url: URL) => url.origin !== new URL(server.url).origin;
  await context.route(isForeign, (route) => {
    trouble.push(route.request().url());
    return route.abort();
  });
  page.setDefaultTimeout(20_000);
  await page.goto(server.url);
  await page.getByText("live", { exact: true }).waitFor();
};

beforeEach(async () => {
  sandbox = createSandbox({ seed: 1 });
  server = await sandbox.listen();
  client = new Client({ apiKey: "sandbox-key", baseUrl: server.url, maxRetries: 0 });
});
afterEach(async () => {
  await page.context().close();
  await client.close();
  await server.close();
});

const html = "<h1>On its way</h1><p>Hello <b>Ada</b>, order A-1001 has left.</p>";
const view = (name: string) => page.getByRole("navigation").getByRole("link", { name });
const row = (text: string | RegExp) => page.locator("#list a").filter({ hasText: text });
const button = (name: string | RegExp) => page.getByRole("button", { name });
const told = (text: string | RegExp) => page.getByRole("status").filter({ hasText: text }).waitFor();
const shown = (text: string | RegExp) => page.getByText(text).first().waitFor();

/** Something of every kind, so that each view has something to show. */
const fill = async () => {
  const { id } = await client.contacts.create({ email: "ada@example.com", name: "Ada Lovelace" });
  await client.contacts.update(id, { stage: "REPLIED", customFields: { plan: "pro" } });
  await client.contacts.create({ email: "ada@example.com" }).catch(() => {});
  await client.events.record({
    id: "e-1",
    name: "order.placed",
    contact: { id },
    properties: { total: 12.5 },
  });
  await client.emails.send({ to: "grace@example.com", subject: "On its way", html });
  const sendAt = new Date(Date.now() + 7_200_000);
  await client.emails.schedule({ to: "alan@example.com", subject: "Later", text: "Soon", sendAt });
  sandbox.fail({ operation: "emails.send", with: { status: 503, retryAfter: 2 } });
};

test("a walk: send and look, fail the next call, advance, reset, without a reload", async () => {
  await openPage();
  await shown("No requests yet");
  await shown(`export TOUCHPOINT_BASE_URL=${server.url}`);
  await page.evaluate("window.stillTheSame = true");

  await client.emails.send({ to: "ada@example.com", subject: "On its way", html });
  await view("Mail 1").click();
  await row("On its way").click();
  const frame = page.frameLocator("iframe");
  await frame.getByRole("heading", { name: "On its way" }).waitFor();
  await page.getByRole("tab", { name: "Text" }).click();
  await shown("Hello Ada, order A-1001 has left.");
  await page.getByRole("tab", { name: "Source" }).click();
  await shown(/Content-Type: multipart\/alternative/);
  await page.getByRole("tab", { name: "Headers" }).click();
  await shown(/<msg_\w+@touchpoint\.example>/);
  await page.getByRole("link", { name: "ada@example.com" }).last().click();
  await page.getByRole("link", { name: "Email sent: On its way" }).waitFor();

  await button(/^Fail next/).click();
  await page.getByLabel("Operation").selectOption("contacts.create");
  await page.getByLabel("What happens").selectOption({ label: "reset, but applied" });
  await button("Plan fault").click();
  await told("The next call of contacts.create fails.");
  await button("Fail next call 1").waitFor();
  const failed = client.contacts.create({ email: "bob@example.com" });
  await expect(failed).rejects.toMatchObject({ outcome: "unknown" });
  await view("Requests 2").click();
  await row("reset-after-apply").click();
  await shown("Planned fault reset-after-apply: applied, the caller got no response");

  const sendAt = new Date(Date.now() + 3_600_000);
  await client.emails.schedule({ to: "ada@example.com", subject: "Tomorrow", text: "Soon", sendAt });
  await view("Mail 2").click();
  await row("Tomorrow").filter({ hasText: "scheduled" }).waitFor();
  await button("Advance").first().click();
  await button("+ 1 h").click();
  await told("The clock has advanced by 1 h.");
  await row("Tomorrow").filter({ hasNotText: "scheduled" }).waitFor();
  await shown("1 h ahead");

  await button("Reset").click();
  await button("Reset everything").click();
  await told("The sandbox has been reset.");
  await shown("No emails yet");
  expect(sandbox.state.emails).toEqual([]);
  expect(await page.evaluate("window.stillTheSame")).toBe(true);
  expect(trouble).toEqual([]);
});

test("the clock can be frozen and started again", async () => {
  await openPage();
  const freeze = page.locator("#freeze");
  await freeze.click();
  await told("The clock is frozen. Only Advance moves it.");
  await expect.poll(() => freeze.getAttribute("aria-pressed")).toBe("true");
  const before = sandbox.addContact({ email: "a@example.com" }).createdAt;
  expect(sandbox.addContact({ email: "b@example.com" }).createdAt).toBe(before);
  await freeze.click();
  await told("The clock is running again.");
  await expect.poll(() => freeze.getAttribute("aria-pressed")).toBe("false");
});

test("data is seeded, saved and loaded", async () => {
  await openPage();
  await button("Data").click();
  await page.getByLabel("Made-up contacts").fill("7");
  await button("Add").click();
  await told("There are 7 contacts now.");
  await button("Data").click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Save snapshot" }).click();
  const path = await (await downloading).path();
  sandbox.reset();
  await page.locator("#load").setInputFiles(path);
  await told("Snapshot loaded.");
  expect(sandbox.state.contacts).toHaveLength(7);
  await page
    .locator("#load")
    .setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await told(/format must be "touchpoint-sandbox"/);
});

test("a planned fault applies, and can be removed", async () => {
  await openPage();
  sandbox.fail({ operation: "events.record", times: 3, with: "stall" });
  await button(/^Fail next/).click();
  await shown("events.record: stall");
  await page.getByLabel("What happens").selectOption("status");
  await page.getByRole("spinbutton", { name: "Status" }).fill("418");
  await button("Plan fault").click();
  await told("The next call fails.");
  await expect(client.contacts.list()).rejects.toMatchObject({ status: 418 });
  await button("Fail next call 1").click();
  await button("Remove").click();
  await told("Fault removed.");
  await button("Remove").waitFor({ state: "detached" });
});

test("requests are filtered by kind and operation, and searched in what was sent and answered", async () => {
  await fill();
  await openPage();
  const count = async (expected: number) =>
    expect.poll(() => page.locator("#list li").count()).toBe(expected);
  await count(6);
  await page.getByText("Refused", { exact: true }).click();
  await count(1);
  await row("409").click();
  await shown("Another contact already has this email.");
  await page.getByText("All", { exact: true }).click();
  await page.getByRole("combobox", { name: "Operation" }).first().selectOption("contacts.create");
  await count(2);
  await page.getByRole("combobox", { name: "Operation" }).first().selectOption("");
  await page.getByRole("searchbox").fill("A-1001");
  await count(1);
  await page.getByRole("searchbox").fill("nothing like it");
  await shown("No matches.");
});

test("events and contacts show their history, and link to each other", async () => {
  await fill();
  await client.events.record({ id: "e-1", name: "order.placed", contact: { email: "ada@example.com" } });
  await openPage();
  await view("Events 1").click();
  await row("2 times").click();
  await shown("once with the same id; not recorded again");
  await page.getByRole("link", { name: "events.record: 202" }).first().waitFor();
  await page.getByRole("link", { name: "ada@example.com" }).last().click();
  await page.getByRole("link", { name: "contacts.update: 200" }).click();
  await page.getByRole("heading", { name: /^PATCH \/api\/v1\/contacts\// }).waitFor();
});

test("a used-up budget is shown in words and in its plot", async () => {
  await client.close();
  client = new Client({ apiKey: "sandbox-key", baseUrl: server.url, maxRetries: 0, limits: false });
  for (let n = 0; n < 20; n += 1)
    await client.emails.send({ to: "ada@example.com", subject: `${n}`, text: "Hi" });
  await expect(client.emails.send({ to: "a@example.com", subject: "21", text: "Hi" })).rejects.toThrow();
  await openPage();
  await view("Budgets").click();
  const key = page.getByRole("region", { name: "key 1" });
  await key.getByText("20 of 20 · used up").waitFor();
  await key
    .getByRole("img", { name: /^emails of key 1: 20 of 20 used now, 20 at most in the last 2 min$/ })
    .waitFor();
  await shown("1 response with status 429 in this period");
  sandbox.advance(60_000);
  await key.getByText("0 of 20 · room left").waitFor();
  await key.getByRole("img", { name: /^emails of key 1: 0 of 20 used now, 20 at most/ }).waitFor();
});

test("the content of an email neither runs nor sends requests, and text is never HTML", async () => {
  const attack = `<script>top.hacked = 1; fetch("https://evil.test/")</script><img src="https://evil.test/x.png" onerror="top.hacked = 2">`;
  await client.emails.send({
    to: "ada@example.com",
    subject: attack,
    html: `${attack}<p>Read me</p><a href="https://evil.test/">away</a>`,
  });
  await client.contacts.update(sandbox.state.contacts[0]?.id ?? "", { name: attack });
  await client.events.record({
    name: "x",
    contact: { email: "ada@example.com" },
    properties: { [attack]: attack },
  });
  await openPage();
  for (const name of ["Contacts", "Events", "Requests", "Mail"]) {
    await view(name).click();
    await page.locator("#list a").first().click();
    await page.locator("#detail h2").waitFor();
  }
  const frame = page.frameLocator("iframe");
  await frame.getByText("Read me").waitFor();
  await frame.getByText("away").click();
  await view("Budgets").click();
  expect(await page.evaluate("window.hacked")).toBe(undefined);
  // The browser tells that it kept the frame from loading things; it asked nobody.
  expect(trouble.filter((one) => one.startsWith("https://"))).toEqual([]);
});

test("everything works by keyboard: arrows move in lists and tabs, and Escape closes panels", async () => {
  await fill();
  await openPage();
  await view("Mail").focus();
  await page.keyboard.press("Enter");
  await row("On its way").waitFor();
  await page.getByRole("searchbox").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "On its way", level: 2 }).waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toContain("On its way");
  // New mail comes in above; the focus stays with the email.
  await client.emails.schedule({
    to: "a@example.com",
    subject: "New",
    text: "!",
    sendAt: new Date(Date.now() + 60_000),
  });
  await row("New").waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toContain("On its way");
  await page.getByRole("tab", { name: "HTML" }).focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Text");
  await button(/^Fail next/).focus();
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.name")).toBe("operation");
  await page.keyboard.press("Escape");
  expect(await page.evaluate("document.activeElement.textContent")).toContain("Fail next");
});

describe.each([
  { width: 1_400, colorScheme: "light" as const },
  { width: 1_400, colorScheme: "dark" as const },
  { width: 400, colorScheme: "light" as const },
  { width: 400, colorScheme: "dark" as const },
])("at $width px in the $colorScheme theme", ({ width, colorScheme }) => {
  const places = [
    ["#/requests", "#list a"],
    ["#/requests/3", "#detail h2"],
    ["#/emails", "#list a"],
    ["#/contacts", "#list a"],
    ["#/events/<event>", "#detail h2"],
    ["#/budgets", ".budget svg"],
  ] as const;

  test("axe finds no violation, and nothing is wider than the screen", async () => {
    await fill();
    await openPage({ viewport: { width, height: 860 }, colorScheme });
    const look = async (where: string) => {
      expect([where, await axeViolations(page)]).toEqual([where, []]);
      expect([where, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([where, width]);
    };
    for (const [hash, sign] of places) {
      await page.goto(`${server.url}/${hash.replace("<event>", sandbox.state.events[0]?.id ?? "")}`);
      await page.locator(sign).first().waitFor();
      await look(hash);
    }
    await page.goto(`${server.url}/#/emails/${sandbox.state.emails[0]?.id}`);
    for (const name of ["HTML", "Text", "Source", "Headers"]) {
      await page.getByRole("tab", { name }).click();
      await look(`email as ${name}`);
    }
    for (const panel of ["fail", "advance", "data", "reset"]) {
      await page.locator(`[popovertarget=${panel}]`).click();
      await look(panel);
      await page.keyboard.press("Escape");
    }
    sandbox.reset();
    await page.goto(`${server.url}/#/requests`);
    await shown("No requests yet");
    await look("empty");
  });
});

test("at 400 px the selected item replaces the list, and the list comes back", async () => {
  await fill();
  await openPage({ viewport: { width: 400, height: 800 } });
  for (const name of ["Requests", "Mail", "Contacts", "Events", "Budgets"])
    expect([name, await view(name).evaluate((link) => link.getBoundingClientRect().right <= 400)]).toEqual([
      name,
      true,
    ]);
  await view("Mail").click();
  await row("On its way").click();
  await page.getByRole("heading", { name: "On its way", level: 2 }).waitFor();
  expect(await page.locator("#list").isVisible()).toBe(false);
  await page.getByRole("link", { name: "All" }).click();
  await row("On its way").waitFor();
});

test("a banner is shown while the server is unreachable", async () => {
  await openPage();
  const banner = page.getByRole("alert").filter({ hasText: "The sandbox has stopped." });
  expect(await banner.isVisible()).toBe(false);
  const { port } = server;
  await server.close();
  await banner.waitFor();
  await shown("not connected");
  server = await sandbox.listen({ port });
  await page.getByText("live", { exact: true }).waitFor();
  await banner.waitFor({ state: "hidden" });
});

const post = (path: string, body: object, signal?: AbortSignal) =>
  fetch(`${server.url}/api/v1/${path}`, {
    method: "POST",
    headers: { authorization: "Bearer sandbox-key", "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
const search = (text: string) => page.getByRole("searchbox").fill(text);

test("the first of 600 requests is found, and the page says what it no longer keeps", async () => {
  await client.contacts.create({ email: "first@example.com" });
  const headers = { authorization: "Bearer sandbox-key" };
  for (let n = 2; n <= 600; n += 1) {
    if (n % 100 === 0) sandbox.advance(10_000);
    await sandbox.fetch("http://sandbox/api/v1/contacts?search=nobody", { headers });
  }
  await openPage();
  await view("Requests 600").waitFor();
  await shown("The sandbox has dropped older data. It keeps only the newest 500 successful responses.");
  await search("first@example.com");
  await row("contacts.create").click();
  await page.getByRole("heading", { name: "POST /api/v1/contacts" }).waitFor();
  await shown("The sandbox has dropped this response.");
});

test("the search covers what is shown: lists, titles, headers, notes, JSON as it is written", async () => {
  const { id } = await client.lists.create({ name: "Early birds" });
  await client.contacts.create({ email: "ada@example.com", title: "Countess", listIds: [id] });
  await client.events.record({
    name: "order.placed",
    contact: { externalId: "u-1" },
    properties: { total: 12.5 },
  });
  await client.emails.send({ to: "grace@example.com", subject: "Hi", text: "Hello" });
  await openPage();
  const finds = async (name: string, texts: readonly string[], rowText: string) => {
    await view(name).click();
    for (const text of texts) {
      await search(text);
      await row(rowText).waitFor();
    }
    await search("nothing like it");
    await shown("No matches.");
  };
  const { createdAt } = sandbox.state.contacts[0] ?? { createdAt: "" };
  const moment = `${createdAt.slice(0, 10)} ${createdAt.slice(11, 19)} UTC`;
  await finds("Contacts", ["countess", "early birds", moment], "ada@example.com");
  await finds("Events", ['"total": 12.5', "nobody matched"], "order.placed");
  await finds("Mail", ["sandbox@touchpoint.example", "message-id", "mail-1"], "grace@example.com");
  await finds("Requests", ['"subject": "Hi"', "user-agent"], "emails.send");
});

test("links of an email are listed, and open in a tab that knows nothing of the page", async () => {
  const link = "https://app.example/confirm?a=1&amp;b=2";
  await client.emails.send({
    to: "ada@example.com",
    subject: "Confirm",
    html: `<a class='x' href='${link}'>Confirm</a> <a href="javascript:alert(1)">no</a>`,
  });
  await client.emails.send({ to: "ada@example.com", subject: "Plain", text: "See https://a.example/b." });
  await openPage();
  await view("Mail").click();
  const links = page.locator(".links a");
  const told = () => links.evaluateAll((all) => all.map((one) => [one.textContent, one.outerHTML]));
  await row("Confirm").click();
  await links.waitFor();
  expect(await told()).toEqual([
    [
      "https://app.example/confirm?a=1&b=2",
      `<a href="${link.replace("&amp;b", "&amp;b")}" target="_blank" rel="noopener noreferrer">${link}</a>`,
    ],
  ]);
  await row("Plain").click();
  await links.filter({ hasText: "https://a.example/b" }).waitFor();
});

test("a 429 names its limit, and an answer its duration", async () => {
  sandbox.freeze();
  sandbox.fail({ operation: "contacts.create", with: { delayMs: 5_000 } });
  const late = post("contacts", { email: "ada@example.com" });
  await openPage();
  await row("contacts.create").filter({ hasText: "no response yet" }).waitFor();
  sandbox.advance(5_000);
  await late;
  await row("contacts.create").filter({ hasText: "5.0 s" }).waitFor();
  for (let n = 0; n < 21; n += 1)
    await post("emails", { to: "ada@example.com", subject: `${n}`, text: "Hi" });
  await row("limit: emails").filter({ hasText: "429" }).click();
  await shown("Refused by the limit emails, not applied");
});

test("an email whose sender got no response is marked", async () => {
  const email = (subject: string) => ({ to: "ada@example.com", subject, text: "Hi" });
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  await post("emails", email("Reset")).catch(() => {});
  sandbox.fail({ operation: "emails.send", with: { delayMs: 60_000 } });
  const impatient = new AbortController();
  const given = post("emails", email("Given up"), impatient.signal).catch(() => {});
  await sandbox.waitFor("email", { subject: "Given up" });
  impatient.abort();
  await given;
  // A round trip: the server has seen the other connection close.
  await fetch(`${server.url}/_sandbox/state`);
  sandbox.advance(60_000);
  await post("emails", email("Known"));
  await openPage();
  await view("Mail").click();
  const badge = "sent, but the response was lost";
  for (const subject of ["Reset", "Given up"]) await row(subject).filter({ hasText: badge }).waitFor();
  await row("Known").filter({ hasNotText: badge }).waitFor();
  await view("Requests").click();
  // The rows of the mail view have the badge too, and may still be shown for a moment.
  await row("emails.send")
    .filter({ hasText: "the response was lost" })
    .filter({ hasNotText: "reset-after-apply" })
    .click();
  await shown("the response was lost");
});

test("a batch is a table of its items, with the refused ones", async () => {
  const contact = { email: "ada@example.com" };
  await post("events/batch", {
    events: [
      { name: "order.placed", contact },
      { name: "", contact },
    ],
  });
  await openPage();
  await row("events.recordBatch").click();
  await page.getByRole("heading", { name: "2 items" }).waitFor();
  const cells = page.locator("table tr");
  expect(
    await cells.evaluateAll((rows) => rows.map((one) => [...one.children].map((cell) => cell.textContent))),
  ).toEqual([
    ["", "Event", "Person", "Status", "Outcome"],
    ["0", "order.placed", "ada@example.com", "202", "PROCESSED"],
    ["1", "", "ada@example.com", "400", "name is missing."],
  ]);
});
