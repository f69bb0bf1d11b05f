import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { type CliEnding, type CliRun, runHere, startCli } from "./cli.ts";

/** The only key that the service of a scene knows. */
export const key = "tp_live_canary";

/**
 * Gives each test of a file an empty folder and a sandbox that listens, and runs it in that folder with that service in
 * the environment.
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
    // What the test runner sets for its own colors.
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

  /** In this process, unless a test is about the process: its signals, its streams, and that it ends. */
  const runTold = (...args: readonly string[]): Promise<CliEnding> => runHere(args);

  const run = async (...args: readonly string[]) => {
    const { ended, stdout, stderr } = await runTold(...args);
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
    runTold,
    run,
    idsInService,
  };
};

/** Ids in an order that does not depend on when their records came. */
export const sorted = (ids: readonly unknown[]): string[] => ids.map(String).sort();

/** A text with each item on a line: texts as they are, anything else as JSON. */
export const lines = (...items: readonly unknown[]): string =>
  items.map((item) => (typeof item === "string" ? `${item}\n` : `${JSON.stringify(item)}\n`)).join("");

/** The event with id `e` and the index, as a caller writes it. */
export const event = (index: number) => ({
  id: `e${index}`,
  name: "page.viewed",
  contact: { email: `p${index}@example.com` },
});

/** The first `count` events. */
export const events = (count: number) => Array.from({ length: count }, (_, index) => event(index));
