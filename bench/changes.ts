// Compares the cost of contacts.changes with that of an export of the same list.
//
//   npx tsx bench/changes.ts            1,000,000 contacts, about five minutes
//   npx tsx bench/changes.ts 100000     another number of contacts
//
// The service answers at once, and each run has its own process. The first runs have no limits, so their times show the cost
// of the CPU. The other runs keep the documented 100 requests per 10 s, ten times as fast unless you set SCALE=1.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "touchpoint-sdk";
import { row } from "./service-process.ts";

const [, , task = "1000000", ...args] = process.argv;

const contactAt = (at: number, version: number) => ({
  id: `ct_${at.toString(36).padStart(20, "0")}`,
  email: `person${at}@example.com`,
  name: `Ada Lovelace ${at}`,
  title: at % 100 === 0 ? `Engineer ${version}` : "Engineer",
  phone: `+44 20 7946 ${at}`,
  linkedIn: `https://www.linkedin.com/in/person${at}`,
  notes: null,
  stage: "NEW",
  source: "MANUAL",
  verified: true,
  emailConfidence: 0.97,
  customFields: { plan: "pro", seats: at % 7 },
  leadId: `lead_${at % 1000}`,
  listIds: ["list_1", "list_2"],
  createdAt: "2026-01-31T09:00:00.000Z",
  updatedAt: "2026-01-31T09:00:00.000Z",
});

/** A service that computes the contacts of each page. A message changes one contact in a hundred. */
const serve = (total: number): void => {
  let version = 0;
  process.on("message", () => {
    version += 1;
  });
  const server = createServer(({ url }, response) => {
    const query = new URL(url ?? "", "http://localhost").searchParams;
    const [skip, limit] = [Number(query.get("skip")), Number(query.get("limit"))];
    const length = Math.max(0, Math.min(limit, total - skip));
    const data = Array.from({ length }, (_, at) => contactAt(skip + at, version));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data, total, skip, limit }));
  });
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
  process.on("disconnect", () => process.exit());
};

/** Bytes in use after a garbage collection. */
const inUse = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

interface Run {
  readonly count: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly bytesInUse: number;
}

const run = async (url: string, snapshot: string, scale: number): Promise<Run> => {
  const limits =
    scale === 0 ? false : { requests: { max: 100, windowMs: 10_000 / scale }, requestsPerDay: 1e9 };
  const client = new Client({ apiKey: "key", baseUrl: url, limits });
  let [count, bytesInUse] = [0, 0];
  const before = inUse();
  const [since0, cpu0] = [performance.now(), process.cpuUsage()];
  // At 95 % of the list, nearly everything that the client keeps of the list is in memory.
  const onProgress = ({ done, total = 0 }: { done: number; total: number | undefined }): void => {
    if (bytesInUse === 0 && done > 0.95 * total) bytesInUse = inUse() - before;
  };
  const items = snapshot === "" ? client.contacts.list() : client.contacts.changes({ snapshot, onProgress });
  for await (const _ of items) count += 1;
  const { user, system } = process.cpuUsage(cpu0);
  await client.close();
  return { count, ms: performance.now() - since0, cpuMs: (user + system) / 1_000, bytesInUse };
};

const start = (...args: string[]) =>
  fork(new URL(import.meta.url), args, { execArgv: ["--expose-gc", "--import", "tsx"] });
const message = <T>(child: ReturnType<typeof start>): Promise<T> =>
  new Promise((resolve) => child.once("message", resolve as (value: unknown) => void));

const compare = async (contacts: number): Promise<void> => {
  const service = start("serve", String(contacts));
  const { port } = await message<{ port: number }>(service);
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-changes-"));
  const snapshot = join(folder, "contacts.snapshot");
  const measure = async (path: string, scale: number): Promise<Run> => {
    const child = start("run", `http://127.0.0.1:${port}`, path, String(scale));
    const result = await message<Run>(child);
    child.disconnect();
    return result;
  };
  for (const scale of [0, Number(process.env.SCALE ?? 10)]) {
    console.log(
      `\n${contacts} contacts, ${scale === 0 ? "no limits" : `at the limits, ${scale} times as fast`}`,
    );
    row("", "yielded", "seconds", "of export", "cpu seconds", "bytes each");
    let least = Number.NaN;
    rmSync(snapshot, { force: true });
    for (const [name, path] of [
      ["export", ""],
      ["changes, first run", snapshot],
      ["changes, none changed", snapshot],
      ["changes, 1 % changed", snapshot],
    ] as const) {
      if (name.includes("1 %")) service.send("change");
      const { count, ms, cpuMs, bytesInUse } = await measure(path, scale);
      if (path === "") least = ms;
      const each = path === "" ? "" : (bytesInUse / contacts).toFixed(1);
      row(name, count, (ms / 1_000).toFixed(2), (ms / least).toFixed(3), (cpuMs / 1_000).toFixed(2), each);
    }
    row("snapshot on disk, bytes a contact", (statSync(snapshot).size / contacts).toFixed(1));
  }
  rmSync(folder, { recursive: true });
  service.disconnect();
};

if (task === "serve") serve(Number(args[0]));
else if (task === "run") {
  const [url = "", snapshot = "", scale] = args;
  process.send?.(await run(url, snapshot, Number(scale)));
} else await compare(Number(task));
