// Both main jobs against the sandbox over HTTP: npm run demo, or in seconds: npm run demo -- --fast
import { mkdir, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { IngestReport } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";
import { type Check, checkExport, checkIngestion, checkLimits } from "./checks.ts";
import { type Child, type Message, start } from "./child.ts";
import { limitsAt } from "./limits.ts";
import { person } from "./people.ts";
import { bold, dim, grouped, say, sayCheck, sayTable, seconds } from "./say.ts";

const contacts = 5_000;
const lines = 2_000;
const speed = process.argv.includes("--fast") ? "fast" : "documented";
const limits = limitsAt(speed);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const files = {
  csv: at("out/contacts.csv"),
  events: at("events.ndjson"),
  checkpoint: at("out/events.checkpoint"),
};

const sandbox = createSandbox({ apiKeys: ["demo-key"], limits, seed: 1 });
sandbox.seedContacts(contacts, person);
const server = await sandbox.listen();
const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "demo-key", DEMO_SPEED: speed };
const checks: Check[] = [];

const check = (...found: readonly Check[]): void => {
  checks.push(...found);
  for (const { isRight, fact } of found) sayCheck(isRight, fact);
};

const exportContacts = async (): Promise<void> => {
  const onMessage = (message: Message): void => {
    if (message.kind !== "exported") return;
    const { records, bytes, elapsedMs } = message;
    sayTable({ contacts: records, bytes, took: seconds(elapsedMs) });
  };
  const ended = await start("export.ts", { args: [files.csv], env, onMessage }).ended;
  if (ended !== 0) throw new Error(`the export ended with ${ended}`);
  check(await checkExport(files.csv, sandbox.state));
};

const ingestEvents = async (): Promise<void> => {
  const rejected = new Map<number, string>();
  const unreadable = new Set<number>();
  let report: IngestReport | undefined;
  const run = (onProgress: (done: number, child: Child) => void): Child => {
    const onMessage = (message: Message): void => {
      if (message.kind === "rejected") rejected.set(message.index, message.error);
      if (message.kind === "unreadable") unreadable.add(message.line);
      if (message.kind === "progress") onProgress(message.done, child);
      if (message.kind === "ingested") report = message.report;
    };
    const child = start("ingest.ts", {
      args: [files.events, files.checkpoint, String(lines)],
      env,
      onMessage,
    });
    return child;
  };

  const killed = await run((done, child) => done >= lines / 2 && child.kill("SIGKILL")).ended;
  if (process.stderr.isTTY) say();
  check({ isRight: killed === "SIGKILL", fact: `the first run was killed halfway (${killed})` });
  // Its share of this second's events died with it unspoken: the next run must not spend that a second time.
  await setTimeout(limits.events.windowMs);
  const ended = await run(() => {}).ended;
  if (report === undefined) throw new Error(`the second run ended with ${ended} and without a report`);
  const { elapsedMs, ...counts } = report;
  sayTable({ ...counts, took: seconds(elapsedMs) });
  for (const why of new Set(rejected.values())) {
    const times = [...rejected.values()].filter((error) => error === why).length;
    say(`  ${dim(`rejected ${times} ×`)} ${why}`);
  }
  check(...checkIngestion(sandbox.state, { rejected: new Set(rejected.keys()), unreadable, report }));
};

try {
  await mkdir(at("out"), { recursive: true });
  await rm(files.checkpoint, { force: true });
  say(
    `${bold("Touchpoint sandbox")} at ${server.url}, limits ${speed === "fast" ? "ten times the documented" : "as documented"}`,
  );
  say(`\n${bold(`1  Export ${grouped(contacts)} contacts to CSV`)}`);
  await exportContacts();
  say(`\n${bold(`2  Ingest ${grouped(lines)} lines of events, killed once on the way`)}`);
  await ingestEvents();
  say(`\n${bold("3  What the sandbox saw")}`);
  const { requests, byStatus, byOperation } = sandbox.state.counts;
  const statuses = Object.fromEntries(
    Object.entries(byStatus).map(([status, count]) => [`answered ${status}`, count]),
  );
  const repeats = sandbox.state.events.reduce((sum, event) => sum + event.repeats, 0);
  sayTable({ requests, ...byOperation, ...statuses, "repeated events": repeats });
  check(checkLimits(sandbox.state));
} finally {
  await server.close();
}
const wrong = checks.filter(({ isRight }) => !isRight).length;
say(`\n${wrong === 0 ? bold("All as it must be.") : bold(`${wrong} of ${checks.length} checks failed.`)}`);
process.exitCode = wrong === 0 ? 0 : 1;
