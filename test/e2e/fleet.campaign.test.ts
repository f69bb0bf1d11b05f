import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { queueName } from "../../examples/fleet/queue.ts";
import type { Limits } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { turn } from "../support/fake-clock.ts";
import { compile, root } from "../support/programs.ts";
import { RedisServer } from "../support/redis-server.ts";

const [worker = "", split = ""] = await compile("fleet", [
  `${root}examples/fleet/worker.ts`,
  `${root}examples/fleet/split.ts`,
]);

test("examples/fleet records each event once, while workers are killed and added", async () => {
  const program = ["--import", import.meta.resolve("tsx"), "examples/fleet/main.ts"];
  const args = [...program, "--events", "1500", "--workspaces", "2", "--kills", "3", "--lines", "200"];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : stdout + stderr),
    );
  });
  expect(output.split("\n").filter((line) => /^ {2}[✓✗]/.test(line))).toEqual([
    "  ✓ all 3,000 events are recorded, each once",
    "  ✓ 3 workers were killed",
    "  ✓ 0 requests refused with 429",
    "  ✓ 0 jobs failed",
    "  ✓ the workers that were told to end did",
  ]);
});

/** A workspace of 400 lines, one of them no event, in two jobs. */
const fleet = async (limits: Partial<Limits>) => {
  const server = await RedisServer.start();
  const folder = await mkdtemp(join(tmpdir(), "fleet-"));
  const redis = new Redis(server.port, "127.0.0.1", { maxRetriesPerRequest: null });
  const queue = new Queue(queueName, { connection: redis });
  const sandbox = createSandbox({ apiKeys: ["k"], limits: { ...limits, requests: false }, latencyMs: 5 });
  const { url, close } = await sandbox.listen();
  onTestFinished(async () => {
    await queue.close();
    redis.disconnect();
    await Promise.all([server.stop(), close(), rm(folder, { recursive: true })]);
  });
  const lines = Array.from({ length: 400 }, (_, n) =>
    JSON.stringify({ name: "seen", contact: { email: "ada@example.com" }, properties: { n } }),
  );
  lines[299] = "{";
  const file = join(folder, "events.ndjson");
  await writeFile(file, lines.join("\n"));
  const start = (program: string, ...args: readonly string[]): ChildProcess => {
    const env = {
      ...process.env,
      REDIS_URL: `redis://127.0.0.1:${server.port}`,
      TOUCHPOINT_BASE_URL: url,
      WORKSPACE_KEYS: JSON.stringify({ crm: "k" }),
      LIMITS: JSON.stringify(limits),
    };
    const child = spawn(process.execPath, [program, ...args], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  // Twice, which queues it once.
  for (let time = 0; time < 2; time += 1) await once(start(split, "crm", file, "200"), "exit");
  const stopped = (child: ChildProcess): Promise<unknown[]> => {
    child.kill("SIGTERM");
    return once(child, "exit");
  };
  const seen = () => sandbox.state.events.map(({ properties }) => Number(properties?.n));
  return { queue, sandbox, seen, start: () => start(worker), stopped };
};

test("a worker that is asked to end returns its job, and the next one continues at once", async () => {
  const { queue, seen, start, stopped } = await fleet({ events: { max: 100, windowMs: 300 } });
  const first = start();
  while (seen().length < 100) await turn();
  expect(await stopped(first)).toEqual([0, null]);
  // A lock that was not given up would hold for 30 s.
  const second = start();
  while ((await queue.getCompletedCount()) < 2);
  expect(await stopped(second)).toEqual([0, null]);
  const all = Array.from({ length: 400 }, (_, n) => n).filter((n) => n !== 299);
  expect(seen().sort((one, other) => one - other)).toEqual(all);
  const { logs } = await queue.getJobLogs("crm-events.ndjson-201");
  expect(logs).toEqual([expect.stringMatching(/^line 300: .* not JSON/)]);
});

test("the jobs of a workspace whose day is used up wait for the next, and nobody asks the service", async () => {
  const limits = { events: { max: 1_000, windowMs: 1_000 }, eventsPerDay: 250 };
  const { queue, sandbox, seen, start, stopped } = await fleet(limits);
  const one = start();
  while ((await queue.getDelayedCount()) < 1);
  expect(await stopped(one)).toEqual([0, null]);
  const [job] = await queue.getDelayed();
  expect([job?.delay ?? 0, seen().length]).toEqual([expect.closeTo(86_400_000, -6), 250]);
  expect(sandbox.state.counts.byStatus["429"]).toBe(undefined);
});
