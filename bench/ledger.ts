import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { fileLedger } from "../src/index.ts";

/**
 * Measures a large file ledger: the time of its first use, how long it blocks the event loop, its memory, and the time until
 * the first row of its list. `tsx bench/ledger.ts [keys]`: 1,000,000 keys by default. At 300 emails a day, a year has 110,000.
 */
const [, , keysGiven = "1000000", path] = process.argv;
const keys = Number(keysGiven);

const write = async (to: string): Promise<void> => {
  const file = createWriteStream(to);
  const line = (record: object): string => `\n${JSON.stringify(record)}\n`;
  const first = line({ touchpointLedger: 1, id: crypto.randomUUID() });
  file.write(first);
  let seen = first.length;
  for (let at = 0; at < keys; at += 1) {
    const [key, claim, settle] = [`welcome:${at}`, crypto.randomUUID(), crypto.randomUUID()];
    const fingerprint = "0123456789abcdef0123456789abcdef";
    const receipt = { id: `message-${at}`, to: `person-${at}@example.com`, subject: "Welcome" };
    const claimed = line({ key, fingerprint, since: 1_700_000_000_000 + at, seen, claim });
    const settled = line({ key, as: "sent", receipt, claim, seen: seen + claimed.length, settle });
    seen += claimed.length + settled.length;
    if (!file.write(claimed + settled)) await once(file, "drain");
  }
  file.end();
  await finished(file);
};

const measure = async (of: string): Promise<void> => {
  const ledger = fileLedger(of);
  const beforeRow = performance.now();
  for await (const { key } of ledger.list()) {
    console.log(`first row of the list (${key}): ${(performance.now() - beforeRow).toFixed(1)} ms`);
    break;
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = performance.now();
  const cpuBefore = process.cpuUsage();
  await ledger.get("welcome:0");
  const ms = performance.now() - before;
  delay.disable();
  const { user, system } = process.cpuUsage(cpuBefore);
  console.log(`first use: ${Math.round(ms)} ms, ${Math.round((user + system) / 1e3)} of them CPU`);
  console.log(`longest block of the event loop: ${(delay.max / 1e6).toFixed(1)} ms`);
  console.log(`peak memory of the process: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
};

if (path !== undefined) await measure(path);
else {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-ledger-"));
  try {
    const file = join(directory, "once.ledger");
    await write(file);
    console.log(`${keys} keys, ${Math.round(statSync(file).size / 1e6)} MB`);
    const program = ["--import", "tsx", fileURLToPath(import.meta.url), String(keys), file];
    spawnSync(process.execPath, program, { stdio: "inherit" });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
