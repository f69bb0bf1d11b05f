import { expect, test } from "vitest";
import { open } from "./client.ts";

const pageOf = async ({ sandbox }: ReturnType<typeof open>): Promise<Response & { html: string }> => {
  const server = await sandbox.listen();
  const response = await fetch(`${server.url}/`);
  const page = Object.assign(response, { html: await response.text() });
  await server.close();
  return page;
};

test("the page shows requests, contacts, events, emails and limits, and is not counted itself", async () => {
  const opened = open({ limits: {} });
  const { call, sandbox } = opened;
  await call("POST", "/api/v1/events", { name: "order.placed", contact: { email: "ada@example.com" } });
  await call("POST", "/api/v1/emails", { to: "ada@example.com", subject: "Welcome", text: "Hello" });
  await call("PATCH", "/api/v1/contacts/none", {});
  const { html, headers } = await pageOf(opened);
  for (const shown of [
    "<td>POST /api/v1/events</td><td>events.record</td>",
    '<span class="refused">404</span>',
    "<td>ada@example.com</td>",
    "<td>order.placed</td><td>ada@example.com</td><td>PROCESSED</td>",
    "<strong>Welcome</strong>",
    "3 of 100 per 10 s",
    "1 of 50 per 1 s",
    "1 of 20 per 60 s",
    '<meta http-equiv="refresh"',
  ]) {
    expect(html).toContain(shown);
  }
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(sandbox.state.counts.requests).toBe(3);
});

test("everything that came in is escaped, and an email's HTML stays in a frame without scripts", async () => {
  const opened = open();
  const attack = `"><script>alert('x')</script>&`;
  await opened.call("POST", "/api/v1/contacts", { email: "ada@example.com", name: attack });
  await opened.call("GET", `/api/v1/contacts?search=${encodeURIComponent(attack)}`);
  await opened.call("POST", "/api/v1/emails", { to: "ada@example.com", subject: attack, html: attack });
  const event = { name: attack, contact: { email: "ada@example.com" }, properties: { [attack]: attack } };
  await opened.call("POST", "/api/v1/events", event);
  const { html, headers } = await pageOf(opened);
  expect(html).not.toContain("<script");
  expect(html).toContain('<iframe sandbox srcdoc="&quot;&gt;&lt;script&gt;');
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
});

test("the page names no key", async () => {
  const { html } = await pageOf(open({ limits: {} }));
  expect(html).toContain("key 1");
  expect(html).not.toContain("sandbox-key");
});

test("several workspaces are shown one after the other, each under its name", async () => {
  const opened = open({ limits: {}, apiKeys: ["k", { key: "l", workspace: "other" }] });
  opened.sandbox.addContact({ email: "ada@example.com" });
  expect((await pageOf(opened)).html).toContain("<h2>Contacts <small>");
  opened.sandbox.addContact({ email: "bob@example.com" }, "other");
  const { html } = await pageOf(opened);
  const parts = html.split(/<h2>Contacts of (\w+)/);
  expect([parts[1], parts[3]]).toEqual(["default", "other"]);
  expect([parts[2]?.includes("ada@example.com"), parts[4]?.includes("bob@example.com")]).toEqual([
    true,
    true,
  ]);
  expect(html).toContain("<td>mail account mail-1 of other</td>");
});
