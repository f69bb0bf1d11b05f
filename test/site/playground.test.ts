import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { presets } from "../../docs/.vitepress/playground/presets.ts";
import { axeViolations, launch } from "../browser/support/browser.ts";
import { serveSite, site } from "./support/serve.ts";

let server: Awaited<ReturnType<typeof serveSite>>;
let browser: Browser;
beforeAll(async () => {
  server = await serveSite();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  server.close();
});

interface Look {
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
}

const open = async (path: string, { width = 1_400, colorScheme = "light" }: Look = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(`${server.origin}${path}`);
  await page.waitForLoadState("networkidle");
  const box = page.getByRole("region", { name: "Try the client in this page" });
  return { page, box, faults, close: () => context.close() };
};

const press = (box: Locator, name: string): Promise<void> =>
  box.getByRole("button", { name, exact: true }).click();

/** Waits for the end of the run, and tells what both columns say. */
const columns = async (box: Locator) => {
  await box.locator("button.main:enabled").waitFor();
  const [believes, did] = await Promise.all(["believes", "did"].map((word) => listOf(box, word)));
  const printed = await box.locator("pre:not(.setup)").allInnerTexts();
  return { believes, did, printed, holds: await box.locator(".holds").textContent() };
};
const listOf = (box: Locator, word: string): Promise<readonly string[]> =>
  box.locator(".side", { hasText: word }).locator("li").allInnerTexts();

const lost = ["POST /emails done, response lost"];
const unknown = 'emails.send connection_failed, outcome "unknown" 1 attempt';

test("after a lost response the program does not know, and the second run sends nothing", async () => {
  const { box, faults, close } = await open("/");
  await press(box, "Lose the answer");
  expect(await columns(box)).toMatchObject({ believes: [unknown], did: lost });
  await press(box, "Run");
  const { believes, did, holds } = await columns(box);
  expect(believes).toEqual([
    unknown,
    expect.stringMatching(/^emails\.send \w+, outcome "unknown" 0 attempts$/),
  ]);
  expect([did, holds]).toEqual([lost, "It holds 1 email, 0 events, 1 contact."]);
  await press(box, "Start over");
  await press(box, "Run");
  expect((await columns(box)).believes).toEqual(["emails.send ok 1 attempt"]);
  expect(faults).toEqual([]);
  await close();
});

test("a 429 is waited out", async () => {
  const { box, close } = await open("/");
  await press(box, "A 429, waited out");
  const began = performance.now();
  await press(box, "Run");
  // The worker waits by its own clock: two seconds.
  await box.getByText("paused by the service").waitFor();
  const { believes, did, printed } = await columns(box);
  expect(performance.now() - began).toBeGreaterThanOrEqual(2_000);
  // The pause lasts two seconds from the response. What is shown is less where a busy machine begins the wait later.
  expect(believes).toEqual([expect.stringMatching(/^contacts\.list ok 2 attempts, waited [12]\.\d s$/)]);
  expect(did).toEqual(["GET /contacts not done, 429", "GET /contacts done, 200"]);
  expect(printed).toEqual(["2 of 3 contacts"]);
  // The documented limit, whole.
  expect(await box.locator("meter").getAttribute("max")).toBe("100");
  expect(await box.locator(".budget").textContent()).toMatch(/^Requests in 10 s\s*\d+ used, \d+ left$/);
  await close();
});

test("an endless program does not block the page, and another preset ends it", async () => {
  const { box, faults, close } = await open("/");
  await box.getByRole("textbox").fill("for (;;);");
  await press(box, "Run");
  await box.getByText("Nothing yet: run it.").waitFor({ state: "detached" });
  await press(box, "One event, three times");
  await press(box, "Run");
  expect((await columns(box)).believes).toHaveLength(3);
  expect(faults).toEqual([]);
  await close();
});

test("an export over a moving list misses nobody and reads nobody twice", async () => {
  const { box, close } = await open("/");
  await press(box, "An export that moves");
  await press(box, "Run");
  const { believes, printed } = await columns(box);
  expect(believes).toEqual([expect.stringMatching(/^contacts\.list, iterated ok \d+ records$/)]);
  expect(printed).toEqual([expect.stringMatching(/^\d+ read, 0 missed, 0 twice$/)]);
  await close();
});

test("one event counts once, also when a response is lost", async () => {
  const { box, close } = await open("/");
  await press(box, "One event, three times");
  await press(box, "Lose the answer");
  const { believes, did, holds } = await columns(box);
  expect(believes).toHaveLength(3);
  expect(believes?.[0]).toMatch(/^events\.record ok 2 attempts/);
  expect(did).toEqual(["POST /events done, response lost", ...Array(3).fill("POST /events done, 202")]);
  expect(holds).toBe("It holds 0 emails, 1 event, 1 contact.");
  await close();
});

test("a changed program runs by keyboard alone, and its mistake is reported", async () => {
  const { page, box, close } = await open("/guide/sending-once");
  await box.getByRole("textbox").focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("console.log(1 + 1); nowhere();");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect((await columns(box)).printed).toEqual(["2\nReferenceError: nowhere is not defined"]);
  await close();
});

test("the program comes with its setup, over the sandbox's fetch, and stays within eight lines", async () => {
  const { box, close } = await open("/");
  for (const { name } of presets) {
    await press(box, name);
    expect(await box.locator(".setup").textContent()).toContain("fetch: sandbox.fetch");
    const code = await box.getByRole("textbox").inputValue();
    expect(code.split("\n").length).toBeLessThanOrEqual(8);
  }
  await close();
});

test("it loads with the click, at most 150 KB gzipped, from the site alone", async () => {
  const { page, box, close } = await open("/");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await press(box, "Lose the answer");
  await columns(box);
  const files = asked.map((url) => new URL(url)).filter(({ origin }) => origin === server.origin);
  expect(files).toHaveLength(asked.length);
  const sizes = files.map(({ pathname }) => gzipSync(readFileSync(join(site, pathname))).length);
  expect(files.map(({ pathname }) => pathname)).toContainEqual(expect.stringMatching(/worker/));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the page loads ${Math.round(total / 1_024)} KB gzipped with a click`);
  expect(files.length).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(150 * 1_024);
  await close();
});

describe.each([390, 1_400])("at %i px", (width) => {
  test.each(["light", "dark"] as const)(
    "in %s it is accessible after a run, and fits",
    async (colorScheme) => {
      const { page, box, close } = await open("/", { width, colorScheme });
      await press(box, "Lose the answer");
      await columns(box);
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
      await close();
    },
  );
});

test("without scripts a picture and its caption tell what happens", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${server.origin}/`);
  const fallback = page.locator(".playground noscript");
  expect(await fallback.locator("img").getAttribute("alt")).toContain("outcome unknown");
  expect(await fallback.locator("figcaption").textContent()).toContain("The service holds one email.");
  await context.close();
});
