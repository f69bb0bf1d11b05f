// Needs the program: chromium
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";

/** Starts Debian's Chromium: no window, no graphics card, nothing of its own on the network. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe-core finds wrong in the page, as it is now: a line each. */
export const axeViolations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(await readFile(axeFile, "utf8"));
  // Evaluated in the page, where the script above has put it.
  const found = (await page.evaluate(
    'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )) as readonly Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
};
