import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client, fileLedger, isTouchpointError } from "../src/index.ts";
import { createSandbox } from "../src/sandbox/index.ts";
import { blocksOf } from "./support/docs-blocks.ts";
import { root } from "./support/programs.ts";

const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const sections = page.split(/^## /m).flatMap((section) => {
  const [, code = ""] = /^`(\w+)`\n/.exec(section) ?? [];
  return code === "" ? [] : [{ code, example: blocksOf(section)[0]?.code ?? "" }];
});

let folder: string;
let client: Client;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-errors-"));
});
afterEach(async () => {
  await client.close({ graceMs: 0 });
  await rm(folder, { recursive: true });
});

/** What an example says at its end, without the times of the day it was written. */
const saidIn = (text: string): string =>
  text
    .split("\n")
    .flatMap((line) => /^\/\/ (.*)/.exec(line)?.[1] ?? [])
    .join(" ")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…");

// The programs of the page, in JavaScript as they stand there.
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

test.each(sections)("the example of $code ends with the error that it shows", async ({ code, example }) => {
  const sandbox = createSandbox({ apiKeys: ["key", { key: "reader", scopes: [] }] });
  client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, maxRetries: 0 });
  const ledgerIn = (path: string) => fileLedger(join(folder, path));
  const program = new AsyncFunction("client", "sandbox", "Client", "fileLedger", example);
  const error = await program(client, sandbox, Client, ledgerIn).catch((reason: unknown) => reason);
  if (!isTouchpointError(error)) throw error;
  const hint = error.hint === undefined ? "" : ` hint: ${error.hint}`;
  expect(error.code).toBe(code);
  expect(saidIn(example)).toBe(saidIn(`// ${error.name}: ${error.message}${hint} outcome: ${error.outcome}`));
});
