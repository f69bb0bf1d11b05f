import { expect, test, vi } from "vitest";
import { open } from "./client.ts";

// As in a bundle that somebody made without the page's files.
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof import("node:fs/promises")>()),
  readFile: () => Promise.reject(new Error("ENOENT")),
}));

test("without its files the page is one sentence, and its data is there", async () => {
  const { url, close } = await open().sandbox.listen();
  const page = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  expect([page.status, await page.text()]).toEqual([
    200,
    "The files of this page are missing because a bundler left them out. To see the page, keep touchpoint-sdk out of the bundle.\n",
  ]);
  expect((await fetch(`${url}/_sandbox/state`)).status).toBe(200);
  await close();
});
