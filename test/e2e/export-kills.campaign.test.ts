import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readCsv, readNdjson } from "../../src/files/index.ts";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { draws, campaignSeed as seed } from "./campaign-seed.ts";

// npm run campaign -- export-kills: 200 of them.
const kills = Number(process.env.TOUCHPOINT_EXPORT_KILLS ?? 4);
const contacts = 4_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

let folder = "";
let sandbox: Sandbox;
let server: Listening;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-kills-"));
  sandbox = createSandbox({ apiKeys: ["key"], limits: false, latencyMs: [1, 15], seed });
  sandbox.seedContacts(contacts);
  server = await sandbox.listen();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const run = (out: string, ...more: readonly string[]) => {
  const program = [join(root, "test/e2e/export-child.ts"), server.url, join(folder, out), ...more];
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), ...program], {
    cwd: folder,
    env: { ...process.env, TSX_TSCONFIG_PATH: join(root, "tsconfig.json") },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { child, ended };
};

const expectAll = async (out: string): Promise<void> => {
  const ids: unknown[] = [];
  const records = out.endsWith(".csv") ? readCsv(join(folder, out)) : readNdjson(join(folder, out));
  for await (const { id } of records) ids.push(id);
  expect(ids.sort()).toEqual(sandbox.state.contacts.map(({ id }) => id).sort());
  if (out.endsWith(".csv"))
    expect(readFileSync(join(folder, out), "utf8").match(/^id,.*email/gm)).toHaveLength(1);
};

test(`killed ${kills} times at any instant, every contact is in the file once (TOUCHPOINT_CAMPAIGN_SEED=${seed})`, async () => {
  const { below } = draws(seed);
  const drawn: number[] = [];
  let killed = 0;
  for (let round = 0; killed < kills; round += 1) {
    const out = ["out.csv", "out.ndjson", "all.csv"][round % 3] ?? "";
    // In about ten pieces: each child lives until it has written a tenth, and a little longer.
    while (!existsSync(join(folder, out)) && killed < kills) {
      const [tenth, delayMs] = [Math.ceil(below(contacts / 5)), below(20)];
      drawn.push(tenth);
      const { child, ended } = run(out);
      child.on("message", (written) => {
        if (Number(written) >= tenth) setTimeout(() => child.kill("SIGKILL"), delayMs);
      });
      if ((await ended) !== 0) killed += 1;
    }
    if (!existsSync(join(folder, out))) expect(await run(out).ended).toBe(0);
    await expectAll(out);
    rmSync(join(folder, out));
  }
  console.log(`campaign of exports, seed ${seed}: killed after`, drawn.join());
}, 3_600_000);

test("killed while the columns are written, it asks for no page again and leaves nothing behind", async () => {
  expect(await run("all.csv", "at-table").ended).toBeNull();
  expect(readdirSync(folder)).not.toContain("all.csv");
  const asked = sandbox.state.requests.length;
  expect(await run("all.csv").ended).toBe(0);
  expect(sandbox.state.requests).toHaveLength(asked);
  await expectAll("all.csv");
  expect(readdirSync(folder)).toEqual(["all.csv"]);
}, 60_000);
