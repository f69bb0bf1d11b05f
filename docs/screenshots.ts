// Takes the pictures of the workbench, and those of the site that npm run docs has built: npm run docs:screenshots
import { Client } from "../src/index.ts";
import { createSandbox } from "../src/sandbox/index.ts";
import { launch } from "../test/browser/support/browser.ts";
import { serveSite } from "../test/site/support/serve.ts";

const folder = new URL("./public/", import.meta.url).pathname;
const html =
  '<div style="font-family:sans-serif;max-width:520px;margin:0 auto"><h1 style="color:#3350c8">On its way, Ada</h1>' +
  "<p>Hello Ada,</p><p>your order <b>A-1001</b> has left our warehouse. It should reach you on <b>Thursday</b>.</p>" +
  '<p style="margin:24px 0"><a href="https://shop.example/" style="background:#3350c8;color:#fff;padding:12px 20px;' +
  'border-radius:6px;text-decoration:none">Track the parcel</a></p><p>Desk, oak: € 99.50<br>Lamp: € 30.00</p></div>';

const sandbox = createSandbox({ seed: 4 });
const server = await sandbox.listen();
const client = new Client({ apiKey: "sandbox-key", baseUrl: server.url, maxRetries: 0 });
const browser = await launch();
const page = await (await browser.newContext({ viewport: { width: 1_200, height: 720 } })).newPage();
await page.goto(server.url);

sandbox.seedContacts(40);
const pause = (ms: number) => page.waitForTimeout(ms);
const ada = await client.contacts.create({
  email: "ada@example.com",
  name: "Ada Lovelace",
  title: "Engineer",
});
await client.contacts.update(ada.id, { stage: "CUSTOMER", customFields: { plan: "pro", seats: 12 } });
await client.contacts.create({ email: "ada@example.com" }).catch(() => {});
const contact = { email: "ada@example.com" };
await client.events.record({
  name: "order.placed",
  contact,
  properties: { orderId: "A-1001", total: 129.5 },
});
await client.emails.send({
  to: "grace@example.com",
  subject: "Welcome, Grace",
  text: "Hello Grace, good to have you.",
});
await client.emails.send({ to: "ada@example.com", subject: "Your order is on its way", html });
const sendAt = new Date(Date.now() + 7_200_000);
await client.emails.schedule({
  to: "alan@example.com",
  subject: "How did it go?",
  text: "Hello Alan,",
  sendAt,
});
for (let batch = 0; batch < 4; batch += 1) {
  await client.events.recordBatch(
    Array.from({ length: 45 }, (_, at) => ({
      name: "page.viewed",
      contact,
      properties: { path: `/${batch}/${at}` },
    })),
  );
  for (let at = 0; at < 22; at += 1) await client.contacts.list({ limit: 1, skip: at });
  await pause(2_000);
}
sandbox.fail({ operation: "events.record", with: "reset-after-apply" });
await client.events.record({ id: "e-2", name: "order.paid", contact }).catch(() => {});

const shoot = async (name: string, hash: string, sign: string) => {
  await page.goto(`${server.url}/${hash}`);
  await page.locator(sign).first().waitFor();
  await pause(700);
  await page.screenshot({ path: `${folder}${name}.png` });
};
const sent = sandbox.state.emails.find(({ to }) => to === "ada@example.com")?.id ?? "";
await shoot("workbench-mail", `#/emails/${sent}`, "iframe");
await shoot("workbench-requests", "#/requests/3", "#detail h2");
await shoot("workbench-budgets", "#/budgets", ".budget svg");
await page.emulateMedia({ colorScheme: "dark" });
await page.setViewportSize({ width: 400, height: 760 });
await shoot("workbench-phone", `#/emails/${sent}`, "iframe");

const site = await serveSite();
const looks = ([390, 1_400] as const).flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);
for (const { width, colorScheme } of looks) {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
  const at = await context.newPage();
  const places = [
    ["site-start", `${site.origin}/`],
    ["site-guide", `${site.origin}/guide/sending-once`],
    ["workbench", `${server.url}/#/emails/${sent}`],
  ] as const;
  for (const [name, url] of places) {
    await at.goto(url);
    await at.waitForTimeout(1_000);
    await at.screenshot({ path: `${folder}../screenshots/${name}-${width}-${colorScheme}.png` });
  }
  await at.goto(`${site.origin}/`);
  // All of the box at once, below the bar that stays.
  await at.setViewportSize({ width, height: 2_400 });
  const box = at.getByRole("region", { name: "Try the client in this page" });
  for (const press of ["Lose the answer", "Run"]) {
    await box.getByRole("button", { name: press, exact: true }).click();
    await at.waitForTimeout(1_000);
  }
  await box.screenshot({ path: `${folder}../screenshots/playground-${width}-${colorScheme}.png` });
  if (width === 1_400 && colorScheme === "light") await box.screenshot({ path: `${folder}playground.png` });
  await context.close();
}
site.close();

await browser.close();
await client.close();
await server.close();
