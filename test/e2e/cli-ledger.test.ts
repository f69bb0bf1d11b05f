import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { fileLedger } from "../../src/index.ts";
import { program, runHere, startCli } from "../support/cli.ts";

let folder = "";
const home = process.cwd();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-cli-ledger-"));
  process.chdir(folder);
  // What the test runner sets for its own colors.
  vi.stubEnv("FORCE_COLOR", undefined);
});
afterAll(() => {
  vi.unstubAllEnvs();
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

const run = (...args: readonly string[]) => runHere(["ledger", ...args]);
const runAlone = (...args: readonly string[]) => startCli(["ledger", ...args], { cwd: folder }).ended;

describe("over a ledger with 100,000 keys", () => {
  const keys = 100_000;
  beforeAll(() => {
    const line = (record: object): string => `\n${JSON.stringify(record)}\n`;
    const lines = [line({ touchpointLedger: 1, id: "l" })];
    for (let at = 0, seen = lines.join("").length; at < keys; at += 1) {
      const [key, claim] = [`welcome:${at}`, `claim-${at}`];
      const claimed = line({ key, fingerprint: "f", since: 1_700_000_000_000 + at, seen, claim });
      const as = at % 1_000 === 0 ? "unknown" : "sent";
      const settled = line({ key, as, receipt: { id: `m-${at}` }, claim, settle: `settle-${at}` });
      lines.push(claimed, settled);
      seen += claimed.length + settled.length;
    }
    writeFileSync(join(folder, "large.ledger"), lines.join(""));
  });

  test("list begins with the latest", async () => {
    const { ended, stdout } = await runAlone("list", "large.ledger", "--since", "2023-11-14T22:14:59.998Z");
    expect([ended, stdout]).toEqual([
      0,
      "2023-11-14T22:14:59.999Z  sent     welcome:99999  m-99999\n" +
        "2023-11-14T22:14:59.998Z  sent     welcome:99998  m-99998\n",
    ]);
  });

  test("list finds those in a state, and ends with the first", async () => {
    const { stdout } = await run("list", "large.ledger", "--state", "unknown", "--json");
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ key }) => key)).toEqual(
      Array.from({ length: 100 }, (_, at) => `welcome:${99_000 - at * 1_000}`),
    );
    expect(rows.at(-1)).toEqual({
      key: "welcome:0",
      state: "unknown",
      since: 1_700_000_000_000,
      receipt: { id: "m-0" },
    });
  });

  test("list takes a time", async () => {
    const { stdout } = await run("list", "large.ledger", "--since", "2023-11-14T22:14:59.998Z");
    expect(stdout.split("\n")).toHaveLength(3);
  });

  test("show prints what is known, what to check, and what each settlement does", async () => {
    const { ended, stdout } = await run("show", "large.ledger", "welcome:1000");
    expect(ended).toBe(0);
    expect(stdout).toContain("welcome:1000: unknown, claimed 2023-11-14T22:13:21.000Z");
    expect(stdout).toContain("Look for it in the sent folder of the mail account");
    expect(stdout).toContain("touchpoint ledger settle large.ledger welcome:1000 not-sent");
    expect(stdout).toContain('"id": "m-1000"');
  });
});

describe("a key that is meant for the shell or the terminal", () => {
  const key = "-a $(touch pwned) it's\u001b[2J\n2026-01-01T00:00:00.000Z  sent     forged";
  beforeAll(async () => {
    await fileLedger(join(folder, "it's.ledger")).claim(key, "f", { limitMs: 0 });
  });

  test("forges no row", async () => {
    const { stdout } = await run("list", "it's.ledger");
    expect(stdout.split("\n")).toEqual([expect.stringMatching(/ {2}-a .*\\u001b\[2J\\u000a2026/), ""]);
  });

  test("is settled by the command that show prints, which runs nothing else", async () => {
    const { stdout } = await runAlone("show", "--", "it's.ledger", key);
    const command = stdout.split("\n").find((line) => line.endsWith(" not-sent")) ?? "";
    const touchpoint = `touchpoint() { ${JSON.stringify(process.execPath)} ${JSON.stringify(program)} "$@"; }`;
    execFileSync("bash", ["-c", `${touchpoint}; ${command}`], { cwd: folder });
    expect(await fileLedger(join(folder, "it's.ledger")).get(key)).toBeUndefined();
    expect(existsSync(join(folder, "pwned"))).toBe(false);
  });
});

describe("settle", () => {
  const path = () => join(folder, "small.ledger");
  beforeEach(async () => {
    rmSync(path(), { force: true });
    await fileLedger(path()).claim("welcome:1", "f", { limitMs: 0 });
  });

  test.each([
    ["sent", "sent"],
    ["not-sent", undefined],
  ])("%s gives the key the state %s", async (settlement, state) => {
    const { ended } = await run("settle", "small.ledger", "welcome:1", settlement);
    expect([ended, (await fileLedger(path()).get("welcome:1"))?.state]).toEqual([0, state]);
  });

  test("changes a key that was sent only with --release", async () => {
    await fileLedger(path()).settle("welcome:1", "sent");
    const refused = await run("settle", "small.ledger", "welcome:1", "not-sent");
    expect([refused.ended, refused.stderr]).toEqual([
      1,
      "touchpoint: nothing was changed: welcome:1 is already sent (not-sent --release frees it)\n",
    ]);
    expect((await run("settle", "small.ledger", "welcome:1", "not-sent", "--release")).ended).toBe(0);
    expect(await fileLedger(path()).get("welcome:1")).toBeUndefined();
  });

  test("changes a key that is being sent only with --force", async () => {
    await fileLedger(path()).claim("welcome:2", "f");
    const refused = await run("settle", "small.ledger", "welcome:2", "not-sent");
    expect([refused.ended, refused.stderr]).toEqual([
      1,
      "touchpoint: nothing was changed: welcome:2 is being sent now (--force settles it)\n",
    ]);
    expect((await run("show", "small.ledger", "welcome:2")).stdout).toContain(
      "A process is sending this email now.",
    );
    expect((await run("settle", "small.ledger", "welcome:2", "not-sent", "--force")).ended).toBe(0);
    expect(await fileLedger(path()).get("welcome:2")).toBeUndefined();
  });

  test("reports that there is nothing to settle", async () => {
    const { ended, stderr } = await run("settle", "small.ledger", "welcome:3", "sent");
    expect([ended, stderr]).toEqual([1, "touchpoint: nothing was changed: welcome:3 is free\n"]);
    expect((await run("show", "small.ledger", "welcome:3")).stdout).toBe(
      "welcome:3 is free: a call with it sends.\n",
    );
  });

  test.each([
    [["list", "none.ledger"], "there is no file none.ledger"],
    [["list", "small.ledger", "--state", "free"], "--state must be pending, unknown or sent"],
    [["settle", "small.ledger", "welcome:1", "not_sent"], "the last argument must be sent or not-sent"],
  ])("%j is wrong usage", async (args, message) => {
    const size = statSync(path()).size;
    const { ended, stderr } = await run(...args);
    expect([ended, stderr.includes(message)]).toEqual([2, true]);
    expect(statSync(path()).size).toBe(size);
  });
});
