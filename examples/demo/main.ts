// An email, an export and an ingestion against the sandbox over HTTP: npm run demo, or faster: npm run demo -- --fast
import { mkdir, rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { IngestReport } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";
import { type Check, checkExport, checkIngestion, checkLimits, countLines } from "./checks.ts";
import { type Child, type Message, start } from "./child.ts";
import { limitsAt } from "./limits.ts";
import { person } from "./people.ts";
import { bold, dim, grouped, print, printCheck, printTable, seconds } from "./print.ts";

const contacts = 5_000;
const lines = 1_000;
const speed = process.argv.includes("--fast") ? "fast" : "documented";
const limits = limitsAt(speed);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const files = {
  ledger: at("out/emails.ledger"),
  csv: at("out/contacts.csv"),
  events: at("events.ndjson"),
  checkpoint: at("out/events.checkpoint"),
};

const sandbox = createSandbox({ apiKeys: ["demo-key"], limits, seed: 1 });
sandbox.seedContacts(contacts, person);
const server = await sandbox.listen();
const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "demo-key", DEMO_SPEED: speed };
const checks: Check[] = [];

const check = (...results: readonly Check[]): void => {
  checks.push(...results);
  for (const { isRight, fact } of results) printCheck(isRight, fact);
};

/** Runs a program of the demo to its end and returns its messages. */
const run = async (program: string, args: readonly string[]): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  const ended = await start(program, { args, env, onMessage: (message) => messages.push(message) }).ended;
  if (ended !== 0) throw new Error(`${program} ended with ${ended}`);
  return messages;
};

const sendEmail = async (): Promise<void> => {
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  const attempt = async () =>
    (await run("send.ts", [files.ledger])).find((message) => message.kind === "sent");
  const first = await attempt();
  check({
    isRight: first?.outcome === "unknown" && sandbox.state.emails.length === 1,
    fact: `the service sent the email, the response was lost: the program got outcome "${first?.outcome}"`,
  });
  const second = await attempt();
  check({
    isRight: second?.code === "once_unknown" && sandbox.state.emails.length === 1,
    fact: `a second program tried again and was refused (${second?.code}): ${sandbox.state.emails.length} email went out`,
  });
};

const exportContacts = async (): Promise<void> => {
  for (const message of await run("export.ts", [files.csv])) {
    if (message.kind !== "exported") continue;
    const { records, bytes, elapsedMs } = message;
    printTable({ contacts: records, bytes, took: seconds(elapsedMs) });
  }
  check(await checkExport(files.csv, sandbox.state));
};

const ingestEvents = async (): Promise<void> => {
  const rejected = new Map<number, string>();
  const unreadable = new Set<number>();
  let report: IngestReport | undefined;
  const ingest = (onProgress: (done: number, child: Child) => void): Child => {
    const onMessage = (message: Message): void => {
      if (message.kind === "rejected") rejected.set(message.index, message.error);
      if (message.kind === "unreadable") unreadable.add(message.line);
      if (message.kind === "progress") onProgress(message.done, child);
      if (message.kind === "ingested") report = message.report;
    };
    const args = [files.events, files.checkpoint, String(lines)];
    const child = start("ingest.ts", { args, env, onMessage });
    return child;
  };

  const killed = await ingest((done, child) => done >= lines / 2 && child.kill("SIGKILL")).ended;
  if (process.stderr.isTTY) print();
  check({ isRight: killed === "SIGKILL", fact: `the first run was killed halfway (${killed})` });
  // The killed process used part of this second's limit. The second run cannot know how much, so it waits for the next second.
  await setTimeout(limits.events.windowMs);
  const ended = await ingest(() => {}).ended;
  if (report === undefined) throw new Error(`the second run ended with ${ended} and without a report`);

  const { repeated } = await countLines(files.events);
  const counts = {
    lines,
    recorded: sandbox.state.events.length,
    repeated,
    rejected: rejected.size,
    unreadable: unreadable.size,
  };
  printTable({
    "lines in the file": counts.lines,
    "recorded once": counts.recorded,
    "repeats of another line": counts.repeated,
    rejected: counts.rejected,
    "not a JSON object": counts.unreadable,
  });
  for (const reason of new Set(rejected.values())) {
    const times = [...rejected.values()].filter((error) => error === reason).length;
    print(`  ${dim(`rejected ${times} ×`)} ${reason}`);
  }
  check(...checkIngestion(sandbox.state, counts, report));
};

try {
  await mkdir(at("out"), { recursive: true });
  await Promise.all([files.checkpoint, files.ledger].map((file) => rm(file, { force: true })));
  print(
    `${bold("Touchpoint sandbox")} at ${server.url}, limits ${speed === "fast" ? "ten times the documented ones" : "as documented"}`,
  );
  print(`\n${bold("1  Send one email, and lose the response")}`);
  await sendEmail();
  print(`\n${bold(`2  Export ${grouped(contacts)} contacts to CSV`)}`);
  await exportContacts();
  print(`\n${bold(`3  Ingest a file of ${grouped(lines)} events, and kill the process halfway`)}`);
  await ingestEvents();
  print(`\n${bold("4  Requests that reached the sandbox")}`);
  const { requests, byOperation } = sandbox.state.counts;
  printTable({ ...byOperation, total: requests });
  check(checkLimits(sandbox.state));
} finally {
  await server.close();
}
const failed = checks.filter(({ isRight }) => !isRight).length;
print(
  `\n${bold(failed === 0 ? `All ${checks.length} checks passed.` : `${failed} of ${checks.length} checks failed.`)}`,
);
process.exitCode = failed === 0 ? 0 : 1;
