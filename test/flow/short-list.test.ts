import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { run } from "../../src/cli/run.ts";
import { Client, type ClientOptions, ResponseValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "short-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true });
});

/** A service that counts 780 contacts and returns the first 300. */
const shortService = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  sandbox.seedContacts(300, (at) => ({ email: `person${at}@example.com` }));
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await sandbox.fetch(url, init);
    const page: unknown = await response.json();
    return Response.json({ ...Object(page), total: 780 });
  };
  return { sandbox, fetch };
};

const scene = (options: Partial<ClientOptions> = {}) => {
  const { fetch } = shortService();
  const issues: string[] = [];
  const hooks = {
    onValidationIssue: (issue: { readonly issues: readonly { readonly message: string }[] }) =>
      void issues.push(...issue.issues.map(({ message }) => message)),
  };
  const client = new Client({
    ...{ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, hooks },
    ...options,
  });
  return { client, issues };
};

const message = "the service did not return 480 of 780 contacts";

test("a list that ends below its total is reported, and an error under strict", async () => {
  const { client, issues } = scene();
  expect([(await client.contacts.list().toArray()).length, issues]).toEqual([300, [message]]);
  const { client: strict } = scene({ responseValidation: "strict" });
  const reading = strict.contacts.list().toArray();
  await expect(reading).rejects.toBeInstanceOf(ResponseValidationError);
  await expect(reading).rejects.toThrow(`contacts.list: ${message}`);
});

/** A gateway that returns an empty page without a total after the first page. */
const emptyAfterFirst = () => {
  const { fetch } = shortService();
  let requests = 0;
  return async (url: string, init: RequestInit): Promise<Response> => {
    requests += 1;
    return requests === 1 ? fetch(url, init) : Response.json({ data: [] });
  };
};

test("an empty page without a total does not hide that earlier pages counted more contacts", async () => {
  const { client, issues } = scene({ fetch: emptyAfterFirst() });
  expect((await client.contacts.list().toArray()).length).toBe(200);
  expect(issues).toContainEqual(expect.stringMatching(/^the service did not return \d+ of 780 contacts$/));
});

test("a pass of changes that ends with such a page is an error", async () => {
  const { client } = scene({ fetch: emptyAfterFirst() });
  const pages = client.contacts.changes({ snapshot: join(folder, "contacts.snapshot") }).pages();
  const read = async () => {
    for await (const _page of pages);
  };
  await expect(read()).rejects.toThrow(/the service did not return \d+ of 780 contacts/);
});

test("a pass of changes over such a list is an error, because it would make removed contacts", async () => {
  const { client } = scene();
  const pages = client.contacts.changes({ snapshot: join(folder, "contacts.snapshot") }).pages();
  const kinds: string[] = [];
  const read = async () => {
    for await (const page of pages) kinds.push(...page.map(({ kind }) => kind));
  };
  await expect(read()).rejects.toThrow(message);
  expect([...new Set(kinds)]).toEqual(["added"]);
});

test("the command line says how many are missing, and ends with 3", async () => {
  const { fetch } = shortService();
  // The command line has no option for a fetch: it uses a replaced global one, as in any test runner.
  vi.stubGlobal("fetch", fetch);
  vi.stubEnv("TOUCHPOINT_API_KEY", "key");
  vi.stubEnv("TOUCHPOINT_BASE_URL", "http://localhost");
  const err: string[] = [];
  const out = join(folder, "contacts.csv");
  const code = await run(["contacts", "export", "--out", out, "--limits", "off"], {
    stdout: { write: () => undefined },
    stderr: { write: (text) => err.push(text) },
    interrupt: new AbortController().signal,
    now: () => performance.now(),
  });
  expect([code, err.join("").includes(`${message}\n`)]).toEqual([3, true]);
  expect(readFileSync(out, "utf8").trimEnd().split("\n")).toHaveLength(301);
});
