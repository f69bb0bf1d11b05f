import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { type CliEnding, type CliRun, runHere, startCli } from "./cli.ts";

/** The only key that the service of a scene accepts. */
export const key = "tp_live_canary";

/**
 * Gives each test of a file an empty folder and a listening sandbox. Each test runs in its folder, and the environment
 * variables contain the URL and the key of the sandbox.
 */
export const cliScene = () => {
  let folder = "";
  let sandbox: Sandbox;
  let server: Listening;
  const home = process.cwd();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "touchpoint-cli-"));
    sandbox = createSandbox({ apiKeys: [key] });
    server = await sandbox.listen();
    process.chdir(folder);
    vi.stubEnv("TOUCHPOINT_BASE_URL", server.url);
    vi.stubEnv("TOUCHPOINT_API_KEY", key);
    // vitest sets this variable for its own output.
    vi.stubEnv("FORCE_COLOR", undefined);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    process.chdir(home);
    await server.close();
    await rm(folder, { recursive: true });
  });

  const at = (name: string): string => join(folder, name);

  const isThere = (name: string) =>
    vi.waitFor(() => expect(existsSync(at(name))).toBe(true), { timeout: 20_000, interval: 5 });

  const start = (...args: readonly string[]): CliRun =>
    startCli(args, { cwd: folder, env: { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: key } });

  /** Runs a command in this process. If a test is about the process (signals, streams, its end), it uses `start`. */
  const runText = (...args: readonly string[]): Promise<CliEnding> => runHere(args);

  const run = async (...args: readonly string[]) => {
    const { ended, stdout, stderr } = await runText(...args);
    return { ended, stderr, report: stdout === "" ? undefined : JSON.parse(stdout) };
  };

  const idsInService = (): string[] => sandbox.state.contacts.map(({ id }) => id);

  return {
    get folder() {
      return folder;
    },
    get sandbox() {
      return sandbox;
    },
    get server() {
      return server;
    },
    at,
    isThere,
    start,
    runText,
    run,
    idsInService,
  };
};

/** Sorts ids, so that their order does not depend on the order of the records. */
export const sorted = (ids: readonly unknown[]): string[] => ids.map(String).sort();

/** Joins items to lines. Strings stay as they are, other values become JSON. */
export const lines = (...items: readonly unknown[]): string =>
  items.map((item) => (typeof item === "string" ? `${item}\n` : `${JSON.stringify(item)}\n`)).join("");

/** Event number `index`, with the id `e<index>`, as a caller writes it. */
export const event = (index: number) => ({
  id: `e${index}`,
  name: "page.viewed",
  contact: { email: `p${index}@example.com` },
});

/** The first `count` events. */
export const events = (count: number) => Array.from({ length: count }, (_, index) => event(index));
