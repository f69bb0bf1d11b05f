import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainText } from "../../docs/.vitepress/llms.ts";
import { pages } from "../../docs/.vitepress/pages.ts";
import { axeViolations, launch } from "../browser/support/browser.ts";
import { root } from "../support/programs.ts";
import { fileOf, serveSite, site } from "./support/serve.ts";

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

const htmlFiles = (): readonly string[] =>
  readdirSync(site, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".html") && path !== "404.html",
  );

test("every link of the built site leads to a page, and to a heading that is there", () => {
  const texts = new Map(
    htmlFiles().map((path) => [join(site, path), readFileSync(join(site, path), "utf8")]),
  );
  const dead = [...texts].flatMap(([file, html]) =>
    [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = ""]) => {
      const base = `http://site/${file.slice(site.length + 1)}`;
      const { host, pathname, hash } = new URL(href.replaceAll("&amp;", "&"), base);
      if (host !== "site") return [];
      const target = fileOf(pathname);
      const isThere =
        target !== undefined &&
        (hash === "" || (texts.get(target) ?? "").includes(`id="${decodeURIComponent(hash.slice(1))}"`));
      return isThere ? [] : [`${file.slice(site.length)}: ${href}`];
    }),
  );
  expect(texts.size).toBeGreaterThan(pages.length);
  expect([...new Set(dead)]).toEqual([]);
});

test("llms.txt names every page, and llms-full.txt holds its text", async () => {
  const index = readFileSync(join(site, "llms.txt"), "utf8");
  const full = readFileSync(join(site, "llms-full.txt"), "utf8");
  for (const { path, title } of pages) {
    expect(index).toContain(`[${title}](/${path}.md)`);
    expect(full).toContain((await plainText(join(root, `docs/${path}.md`))).trim());
  }
  // What VitePress puts into a page is there, and what only a browser shows is not.
  expect(full).toContain("// A first call.");
  expect(full).not.toMatch(/<Playground|^<<< |@include|<!-- types only/m);
});

test("the guides show the pictures that the files of the package only name", () => {
  const shown = htmlFiles()
    .filter((path) => path.startsWith("guide/"))
    .flatMap((path) => [
      ...readFileSync(join(site, path), "utf8").matchAll(/<img src="\/(workbench-\w+)\.png" alt="\w/g),
    ]);
  const names = ["workbench-budgets", "workbench-mail", "workbench-phone", "workbench-requests"];
  expect(shown.map(([, name]) => name).sort()).toEqual(names);
});

test("four guides end with an example that runs in the page", () => {
  const ends = htmlFiles().filter((path) =>
    readFileSync(join(site, path), "utf8").includes('id="try-it-here"'),
  );
  const guides = ["events", "pagination", "rate-limits", "sending-once"];
  expect(ends.sort()).toEqual(guides.map((guide) => `guide/${guide}.html`));
});

/** Opens an address of the site, and tells what the browser complains of or asks elsewhere for. */
const open = async (path: string, width: number, colorScheme: "light" | "dark") => {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(server.origin) && !request.url().startsWith("data:"))
      trouble.push(request.url());
  });
  await page.goto(`${server.origin}${path}`);
  await page.waitForLoadState("networkidle");
  return { page, trouble, close: () => context.close() };
};

/** What does not fit: the page itself, or a table, a picture or a list in it whose end nobody sees. Code scrolls. */
const overflowing = (page: Page): Promise<readonly string[]> =>
  // Evaluated in the page, which answers with strings.
  page.evaluate(`[document.documentElement, ...document.querySelectorAll("#VPContent :is(table, img, ul, p, .playground pre)")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0 || part.getBoundingClientRect().right > innerWidth + 1)
    .filter((part) => !part.closest("[class*=language-], .playground ol"))
    .map((part) => part.tagName + " " + part.scrollWidth + " in " + part.clientWidth + ": " + part.textContent.trim().slice(0, 60))`) as Promise<
    readonly string[]
  >;

const looks = [
  { theme: "light", width: 390 },
  { theme: "dark", width: 1_400 },
  { theme: "dark", width: 390 },
  { theme: "light", width: 1_400 },
] as const;
const written = ["/", ...pages.map(({ path }) => `/${path}`)];
const generated = htmlFiles()
  .filter((path) => path.startsWith("reference/"))
  .map((path) => `/${path.replace(/(index)?\.html$/, "")}`)
  .sort();
// All of them take half an hour: TOUCHPOINT_SITE_PAGES=all.
const isCampaign = process.env.TOUCHPOINT_SITE_PAGES === "all";
const everyPage = [
  ...written,
  "/reference/index/classes/Client",
  "/reference/index/interfaces/ClientOptions",
  ...generated.filter((_, at) => isCampaign || at % 25 === 0),
];
/** Each page is looked at in both themes and both widths, these in every look. */
const sample = [
  "/",
  "/guide/sending-once",
  "/reference/index/classes/Client",
  "/reference/index/interfaces/ClientOptions",
];

test("the generated pages are there", () => {
  expect(generated.length).toBeGreaterThan(250);
});

describe.each(looks)("$theme at $width px", ({ theme, width }) => {
  const isForAll = (theme === "light") === (width === 390);
  test.each(isForAll ? [...new Set(everyPage)] : sample)("%s is accessible, and fits", async (path) => {
    const { page, trouble, close } = await open(path, width, theme);
    expect(await axeViolations(page)).toEqual([]);
    expect(await overflowing(page)).toEqual([]);
    expect(trouble).toEqual([]);
    await close();
  });
});

test("no page is heavier than 400 KB gzipped, with all that the browser asks for at once", () => {
  const packed = new Map<string, number>();
  const sizeOf = (file: string): number => {
    const size = packed.get(file) ?? gzipSync(readFileSync(file)).length;
    packed.set(file, size);
    return size;
  };
  const weights = htmlFiles().map((path) => {
    const html = readFileSync(join(site, path), "utf8");
    // What the browser asks for at once: styles, scripts, fonts that are preloaded, pictures.
    const asked = [...html.matchAll(/<(?:link|script|img)\b[^>]*?\b(?:href|src)="(\/[^"]+\.\w+)"/g)];
    const files = [...new Set(asked.map(([, href = ""]) => join(site, href)))].filter((file) =>
      existsSync(file),
    );
    const bytes = [join(site, path), ...files].reduce((sum, file) => sum + sizeOf(file), 0);
    return { path, kb: Math.round(bytes / 1_024) };
  });
  const heaviest = weights.sort((a, b) => b.kb - a.kb).slice(0, 5);
  const list = heaviest.map(({ path, kb }) => `${path} ${kb}`).join(", ");
  console.log(`KB gzipped of ${weights.length} pages: ${list}; median ${weights[weights.length >> 1]?.kb}`);
  expect(heaviest[0]?.kb).toBeLessThanOrEqual(400);
});

test("every page's policy allows the site alone, and blocks a script that the build did not write", async () => {
  const policies = htmlFiles().map(
    (path) =>
      /Content-Security-Policy" content="([^"]+)"/.exec(readFileSync(join(site, path), "utf8"))?.[1] ?? path,
  );
  expect(
    policies.filter((policy) => !policy.startsWith("default-src 'self'; script-src 'self' 'sha256-")),
  ).toEqual([]);
  expect(policies.filter((policy) => /\w:\/\/|unsafe-eval|script-src[^;]*unsafe/.test(policy))).toEqual([]);
  const { page, trouble, close } = await open("/", 1_400, "light");
  await page.evaluate(`
    const script = document.createElement("script");
    script.textContent = "globalThis.hasRun = true";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<img src='https://elsewhere.example/a.png'>");
  `);
  expect(await page.evaluate("globalThis.hasRun")).toBeUndefined();
  await expect.poll(() => trouble.length).toBeGreaterThanOrEqual(2);
  expect(trouble.every((message) => /Content Security Policy|elsewhere/.test(message))).toBe(true);
  await close();
});

test("the options of a client are in the reference by the groups of the guide, all of them", () => {
  const grouped = (text: string, item: RegExp) =>
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [
        section.split("\n", 1)[0],
        [...section.matchAll(item)]
          .flatMap(([, names = ""]) => names.match(/\w+/g) ?? [])
          .sort((a, b) => a.localeCompare(b)),
      ]);
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const [, ...reference] = grouped(
    read("docs/reference/index/interfaces/ClientOptions.md"),
    /^\| <a id="property-\w+"><\/a> `(\w+)\?`/gm,
  );
  expect(reference).toHaveLength(6);
  expect(reference).toEqual(grouped(read("docs/guide/options.md"), /^- ((?:`\w+`(?:, )?)+)/gm));
});

test.each(["guide/first-call", "guide/fleets"])("%s installs with npm, pnpm, yarn or bun", async (path) => {
  const { page, close } = await open(`/${path}`, 1_400, "light");
  const group = page.locator(".vp-code-group").first();
  const shown: Record<string, string> = {};
  for (const manager of ["npm", "pnpm", "yarn", "bun"]) {
    await group.locator("label", { hasText: new RegExp(`^${manager}$`) }).click();
    shown[manager] = ((await group.locator("pre:visible").textContent()) ?? "").split("\n")[0] ?? "";
  }
  const name = path === "guide/fleets" ? "ioredis" : "touchpoint-sdk";
  expect(shown).toEqual({
    npm: `npm install ${name}`,
    pnpm: `pnpm add ${name}`,
    yarn: `yarn add ${name}`,
    bun: `bun add ${name}`,
  });
  expect(readFileSync(join(site, `${path}.md`), "utf8")).toContain(`\`\`\`sh\nnpm install ${name}`);
  await close();
});

test("the search finds a page by a word of its text", async () => {
  const { page, close } = await open("/", 1_400, "light");
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("Retry-After");
  await page.getByRole("option").first().click();
  await page.waitForURL(/\/(guide|reference|errors)/);
  await close();
});

const words = [
  ...[
    "retry",
    "duplicate",
    "idempotency",
    "idempotency key",
    "sendAt",
    "schedule",
    "cancel",
    "429",
    "rate limit",
  ],
  ...["webhook", "lambda", "cron", "export", "csv", "import", "mock", "msw", "proxy", "scope", "unsubscribe"],
];
test("the search has a guide first for people's words", async () => {
  const { page, close } = await open("/", 1_400, "light");
  await page.keyboard.press("/");
  const first: Record<string, string | null> = {};
  for (const word of words) {
    await page.getByRole("searchbox").fill(word);
    // The results of the word before it are gone when the new ones mark it.
    const hit = page.locator("#localsearch-list a.result").first();
    await hit
      .locator("mark", { hasText: new RegExp(word.split(" ")[0]?.slice(0, 4) ?? "", "i") })
      .first()
      .waitFor();
    first[word] = await hit.getAttribute("href");
  }
  expect(Object.entries(first).filter(([, href]) => !href?.startsWith("/guide/"))).toEqual([]);
  await close();
});

test("each page has its text beside it, its own description, and a button that copies it", async () => {
  for (const { path, about } of pages) {
    expect(readFileSync(join(site, `${path}.md`), "utf8")).toContain("# ");
    expect(readFileSync(join(site, `${path}.html`), "utf8")).toContain(about.replaceAll("&", "&amp;"));
  }
  const { page, close } = await open("/guide/errors", 1_400, "light");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy page" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain("# Handling errors");
  await close();
});

test("an address without a page says so, and can be searched from", async () => {
  const { page, close } = await open("/nowhere", 1_400, "light");
  expect(await page.getByText("There is no such page").count()).toBe(1);
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("Retry-After");
  await page.getByRole("option").first().waitFor();
  await close();
});

/** What people come for, the links that they follow from the start, and a heading that they find. */
const errands: readonly (readonly [errand: string, clicks: readonly string[], heading: string])[] = [
  ["install and first call", ["First call, without an account"], "2. Send an email"],
  ["export contacts", ["Guide", "Pagination and exports"], "Pagination and exports"],
  ["what happens at a 429", ["Guide", "Rate limits and priority"], "When the service answers 429 anyway"],
  ["schedule and cancel an email", ["Guide", "Emails"], "Schedule, list, change, cancel"],
  ["testing", ["Guide", "Testing"], "Testing"],
  ["all client options", ["Guide", "Client options"], "Client options"],
  ["what an error means", ["Errors", "mail_account_failed"], "mail_account_failed"],
  ["serverless", ["Guide", "Serverless"], "Serverless"],
  ["migrating from axios", ["Guide", "Migration"], "From your own HTTP code"],
  ["the changelog", ["Changes"], "0.1.0"],
];
test.each(errands)("%s: two clicks from the start at most", async (_errand, clicks, heading) => {
  expect(clicks.length).toBeLessThanOrEqual(2);
  const { page, close } = await open("/", 1_400, "light");
  for (const name of clicks) await page.getByRole("link", { name }).first().click();
  await page.getByRole("heading", { name: heading }).first().waitFor();
  await close();
});
