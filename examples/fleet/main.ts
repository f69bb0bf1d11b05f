// Runs a small fleet on one machine: npm run fleet. The fleet has real processes and a redis-server. The service is the
// sandbox over HTTP, with ten times the documented event limit.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Queue } from "bullmq";
import { createSandbox, documentedLimits } from "touchpoint-sdk/sandbox";
import { bold, grouped, print, printCheck, printTable, seconds } from "../demo/print.ts";
import { connect, queueName } from "./queue.ts";

const { values } = parseArgs({
  options: {
    /** How many events each workspace records. */
    events: { type: "string", default: "10000" },
    workspaces: { type: "string", default: "3" },
    workers: { type: "string", default: "3" },
    kills: { type: "string", default: "6" },
    lines: { type: "string", default: "500" },
  },
});
const [count, workspaces, workers, kills] = [
  values.events,
  values.workspaces,
  values.workers,
  values.kills,
].map(Number) as [number, number, number, number];
const names = Array.from({ length: workspaces }, (_, at) => `workspace-${at + 1}`);
const limits = { events: { max: 500, windowMs: 1_000 }, requests: { max: 1_000, windowMs: 10_000 } };

const probe = createServer().listen(0, "127.0.0.1");
await once(probe, "listening");
const address = probe.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
probe.close();

const folder = await mkdtemp(join(tmpdir(), "touchpoint-fleet-"));
const server = spawn("redis-server", [
  "--port",
  `${port}`,
  "--bind",
  "127.0.0.1",
  "--save",
  "",
  "--dir",
  folder,
]);
for await (const line of server.stdout) if (String(line).includes("Ready to accept connections")) break;
process.once("exit", () => server.kill());
process.env.REDIS_URL = `redis://127.0.0.1:${port}`;

const apiKeys = names.map((workspace) => ({ key: `key-of-${workspace}`, workspace }));
const sandbox = createSandbox({ apiKeys, limits, latencyMs: 20, keepRequests: 1 });
const { url, close } = await sandbox.listen();
Object.assign(process.env, {
  TOUCHPOINT_BASE_URL: url,
  WORKSPACE_KEYS: JSON.stringify(Object.fromEntries(apiKeys.map(({ key, workspace }) => [workspace, key]))),
  LIMITS: JSON.stringify(limits),
  LOCK_MS: "1000",
});

const program = (name: string, ...args: readonly string[]): ChildProcess =>
  fork(fileURLToPath(new URL(name, import.meta.url)), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
const ended = async (child: ChildProcess): Promise<unknown> => {
  const [code, signal] = await once(child, "exit");
  return code ?? signal;
};

const redis = connect();
const queue = new Queue(queueName, { connection: redis });
const recorded = (workspace: string): number => sandbox.stateOf(workspace).events.length;
const running = new Set<ChildProcess>();
const add = (): void => void running.add(program("worker.ts"));
const took = new Map<string, number>();
let killed = 0;

try {
  print(
    bold(`${grouped(count)} events for each of ${workspaces} workspaces, ${workers} workers, ${kills} kills`),
  );
  for (const name of names) {
    const lines = Array.from({ length: count }, (_, n) => {
      return JSON.stringify({
        name: "signed.in",
        contact: { email: `${n % 100}@example.com` },
        properties: { n },
      });
    });
    const path = join(folder, `${name}.ndjson`);
    await writeFile(path, `${lines.join("\n")}\n`);
    await ended(program("split.ts", name, path, values.lines));
  }
  for (let worker = 1; worker < workers; worker += 1) add();
  let beganAt = 0;
  for (let isOver = false; !isOver; await setTimeout(20)) {
    const total = names.map(recorded).reduce((sum, one) => sum + one, 0);
    if (beganAt === 0 && total > 0) beganAt = performance.now();
    for (const name of names)
      if (!took.has(name) && recorded(name) === count) took.set(name, performance.now() - beganAt);
    // The kills are spread evenly over the events. A new worker replaces each killed one, and the first kill adds one more.
    if (killed < kills && total >= ((killed + 1) * count * workspaces) / (kills + 1)) {
      if (killed === 0) add();
      const [oldest] = running;
      if (oldest !== undefined && running.delete(oldest)) oldest.kill("SIGKILL");
      killed += 1;
      add();
    }
    const { completed = 0, ...open } = await queue.getJobCounts(
      "completed",
      "active",
      "wait",
      "prioritized",
      "delayed",
    );
    isOver = completed > 0 && Object.values(open).every((jobs) => jobs === 0);
  }
  // The worker that was added last may still be starting.
  while ((await queue.getWorkersCount()) < running.size);
  const endedAs = await Promise.all(
    [...running].map((child) => {
      const end = ended(child);
      child.kill("SIGTERM");
      return end;
    }),
  );

  const info = await redis.info();
  const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
  const { counts } = sandbox.state;
  const eventsOf = names.map((name) => sandbox.stateOf(name).events);
  const repeats = eventsOf.flat().reduce((sum, event) => sum + event.repeats, 0);
  const total = count * workspaces;
  const commandsPerSecond = figure("total_commands_processed") / (Math.max(...took.values()) / 1_000);
  const perSecond = limits.events.max / (limits.events.windowMs / 1_000);
  printTable({
    events: total,
    "workers killed": killed,
    "workers at the end": running.size,
    requests: counts.requests,
    "events sent twice": repeats,
    "Redis commands a second": Math.round(commandsPerSecond),
    "Redis memory, KB": Math.round(figure("used_memory_peak") / 1_024),
    ...Object.fromEntries(
      [...took].map(([name, ms]) => {
        const rate = (count / ms) * 1_000;
        return [
          name,
          `${seconds(ms)}, ${rate.toFixed(0)} of ${perSecond} events a second (${((rate / perSecond) * 100).toFixed(0)} %)`,
        ];
      }),
    ),
  });
  const isOnce = eventsOf.every(
    (events) => new Set(events.map(({ properties }) => properties?.n)).size === count,
  );
  const checks = [
    [`all ${grouped(total)} events are recorded, each once`, isOnce && eventsOf.flat().length === total],
    [`${kills} workers were killed`, killed === kills],
    ["0 requests refused with 429", (counts.byStatus["429"] ?? 0) === 0],
    ["0 jobs failed", (await queue.getFailedCount()) === 0],
    ["the workers that were told to end did", endedAs.every((code) => code === 0)],
  ] as const;
  for (const [fact, isRight] of checks) printCheck(isRight, fact);

  const manyEvents = 10_000_000;
  const { events, eventsPerDay } = documentedLimits;
  const days = manyEvents / eventsPerDay.max;
  print(bold(`\n${grouped(manyEvents)} events at the documented limits, calculated`));
  printTable({
    "one workspace": `${days} days, ${grouped(eventsPerDay.max / events.max)} s of work a day`,
    "ten workspaces": `${days / 10} days`,
    requests: Math.round((manyEvents * counts.requests) / total),
    "Redis commands": Math.round((commandsPerSecond / workspaces) * (manyEvents / events.max)),
  });
  process.exitCode = checks.every(([, isRight]) => isRight) ? 0 : 1;
} finally {
  for (const child of running) child.kill("SIGKILL");
  await queue.close();
  redis.disconnect();
  await close();
  server.kill();
  await once(server, "exit");
  await rm(folder, { recursive: true });
}
