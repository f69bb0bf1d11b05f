// Measures the peak resident memory of jobs over a million records, each in its own process.
//
//   npx tsx bench/memory.ts                        1,000,000 records, this build
//   npx tsx bench/memory.ts 100000                 another number of records
//   BASE=../other/dist npx tsx bench/memory.ts     compares with another build, in turns
//   JOBS=import,changes ROUNDS=3 npx tsx bench/memory.ts
//   NODE_FLAGS=--max-old-space-size=320 npx tsx bench/memory.ts
//   CGROUP=/sys/fs/cgroup/memory/small npx tsx bench/memory.ts    each job in this cgroup, which limits its memory
//
// Needs dist/ (npm run build). The service runs in another process, computes its contacts and stores nothing. The peak memory
// is the maxRSS that the operating system reports for the process.
import { execFile, fork } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median, row } from "./service-process.ts";

const [, , task = "1000000", ...rest] = process.argv;

const contactAt = (at: number, version: number) => ({
  id: `8c1e4f0a-0000-4000-8000-${String(at).padStart(12, "0")}`,
  email: `person${at}@example.com`,
  name: at % 10 === 0 ? `Ada Lovelace ${version}` : `Ada Lovelace ${at}`,
  title: "Engineer",
  phone: `+44 20 7946 ${at}`,
  notes: null,
  stage: "NEW",
  source: "MANUAL",
  verified: true,
  customFields: { plan: "pro", seats: at % 7 },
  listIds: ["list_1"],
  createdAt: "2026-01-31T09:00:00.000Z",
  updatedAt: "2026-01-31T09:00:00.000Z",
});

/** A service with `total` contacts. A message sets the version of every tenth contact. */
const serve = (total: number): void => {
  let version = 0;
  process.on("message", (next: number) => {
    version = next;
    process.send?.("ready");
  });
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "", "http://localhost");
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "PATCH")
        return response.end(JSON.stringify(contactAt(Number(pathname.slice(-12)), version)));
      if (pathname.endsWith("/batch")) {
        // Only this benchmark sends requests.
        const { events } = JSON.parse(body) as { events: { id: string; name: string }[] };
        const results = events.map(({ id, name }) => ({
          ...{ status: 202, id: `ev_${id}`, name, outcome: "PROCESSED", runsStarted: 0 },
        }));
        response.statusCode = 207;
        return response.end(JSON.stringify({ accepted: results.length, rejected: 0, results }));
      }
      const [skip, limit] = [Number(query.get("skip")), Number(query.get("limit") ?? 50)];
      const length = Math.max(0, Math.min(limit, total - skip));
      const data = Array.from({ length }, (_, at) => contactAt(skip + at, version));
      return response.end(JSON.stringify({ data, total, skip, limit }));
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
  process.on("disconnect", () => process.exit());
};

interface Job {
  readonly name: string;
  /** The version of the service's contacts. */
  readonly version: number;
  /** The code of the program, with `files`, `client`, `folder` and `total` in scope. */
  readonly code?: string;
  /** Or the arguments of the command line. */
  readonly command?: readonly string[];
  /** The snapshot at the start of each round: none, or that of the first pass. */
  readonly snapshot?: "none" | "first";
}

const rowsCode = (version: number): string => `
  const rows = async function* () {
    for (let at = 0; at < total; at += 1)
      yield { email: "person" + at + "@example.com", name: at % 10 === 0 ? "Ada Lovelace ${version}" : "Ada Lovelace " + at, title: "Engineer", customFields: { plan: "pro", seats: at % 7 } };
  };
  const report = await client.contacts.import(rows());
  if (report.unchanged + report.updated !== total) throw new Error(JSON.stringify(report));`;

const changesCode = `
  let count = 0;
  for await (const change of client.contacts.changes({ snapshot: folder + "/contacts.snapshot" })) count += 1;`;

const jobs: readonly Job[] = [
  {
    name: "no SDK: fetch every page",
    version: 0,
    code: `
  for (let skip = 0; skip < total; skip += 200)
    await (await fetch(process.env.TOUCHPOINT_BASE_URL + "/api/v1/contacts?limit=200&skip=" + skip)).json();`,
  },
  { name: "import, unchanged", version: 0, code: rowsCode(0) },
  { name: "import, 10 % changed", version: 0, code: rowsCode(1) },
  { name: "changes, first pass", version: 0, code: changesCode, snapshot: "none" },
  { name: "changes, none", version: 0, code: changesCode, snapshot: "first" },
  { name: "changes, 10 %", version: 1, code: changesCode, snapshot: "first" },
  {
    name: "export to CSV",
    version: 0,
    code: 'await files.writeCsv(folder + "/out.csv", client.contacts.list());',
  },
  {
    name: "export to NDJSON",
    version: 0,
    code: 'await files.writeNdjson(folder + "/out.ndjson", client.contacts.list());',
  },
  {
    name: "ingest events",
    version: 0,
    code: 'await client.events.ingest(files.readNdjson(folder + "/events.ndjson"), { checkpoint: folder + "/events.checkpoint" });',
  },
  { name: "cli: contacts export, CSV", version: 0, command: ["contacts", "export", "--out", "cli.csv"] },
  { name: "cli: contacts import, unchanged", version: 0, command: ["contacts", "import", "cli.csv"] },
  { name: "cli: contacts import, 10 %", version: 1, command: ["contacts", "import", "cli.csv"] },
  {
    name: "cli: contacts changes",
    version: 0,
    command: ["contacts", "changes", "--snapshot", "cli.snapshot"],
  },
  { name: "cli: events ingest", version: 0, command: ["events", "ingest", "events.ndjson"] },
];

/** A module that runs in the measured process, and writes its peak memory and CPU time to a file at its end. */
const probe = `data:text/javascript,import{writeFileSync}from"node:fs";process.once("exit",()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();writeFileSync(process.env.PROBE,JSON.stringify({maxRSS,cpu:(userCPUTime+systemCPUTime)/1e6}))})`;

interface Measured {
  readonly peakMb: number;
  readonly cpu: number;
  readonly seconds: number;
}

const measure = async (job: Job, { dist, url, folder, total }: Scene): Promise<Measured> => {
  const out = join(folder, "probe.json");
  const program = join(folder, "job.mjs");
  const at = (file: string): string => JSON.stringify(pathToFileURL(join(dist, file)).href);
  if (job.code !== undefined)
    writeFileSync(
      program,
      `import { Client } from ${at("index.js")};
const files = ${job.code.includes("files.") ? `await import(${at("files.js")})` : "{}"};
const folder = ${JSON.stringify(folder)}, total = ${total};
${
  job.name.startsWith("no SDK")
    ? job.code
    : `const client = new Client({ apiKey: "key", limits: false });${job.code}
await client.close();`
}
`,
    );
  const args = job.command === undefined ? [program] : [join(dist, "cli.js"), ...job.command];
  const flags = (process.env.NODE_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
  const env = {
    ...process.env,
    ...{ TOUCHPOINT_BASE_URL: url, TOUCHPOINT_API_KEY: "key", PROBE: out, NODE_OPTIONS: "" },
  };
  const since = performance.now();
  await new Promise<void>((done, fail) => {
    const nodeArgs = ["--import", probe, ...flags, ...args, ...(job.command ? ["--limits", "off"] : [])];
    const { CGROUP: group } = process.env;
    const inGroup = ["-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group ?? "", process.execPath];
    const [program, ...before] = group === undefined ? [process.execPath] : ["sh", ...inGroup];
    execFile(
      program ?? "",
      [...before, ...nodeArgs],
      { cwd: folder, env, maxBuffer: 2 ** 30 },
      (error, _out, stderr) =>
        error === null ? done() : fail(new Error(`${job.name}: ${stderr.slice(-2_000)}`, { cause: error })),
    );
  });
  const { maxRSS, cpu }: { maxRSS: number; cpu: number } = JSON.parse(readFileSync(out, "utf8"));
  return { peakMb: maxRSS / 1024, cpu, seconds: (performance.now() - since) / 1_000 };
};

interface Scene {
  readonly dist: string;
  readonly url: string;
  readonly folder: string;
  readonly total: number;
}

const main = async (total: number): Promise<void> => {
  const own = resolve(fileURLToPath(new URL("../dist", import.meta.url)));
  const builds = [...(process.env.BASE === undefined ? [] : [resolve(process.env.BASE)]), own];
  const rounds = Number(process.env.ROUNDS ?? 1);
  const wanted = (process.env.JOBS ?? "").split(",");
  const service = fork(fileURLToPath(import.meta.url), ["serve", String(total)], {
    execArgv: process.execArgv,
  });
  const { port } = await new Promise<{ port: number }>((done) => service.once("message", done as never));
  const url = `http://127.0.0.1:${port}`;
  const folders = builds.map(() => mkdtempSync(join(tmpdir(), "memory-")));
  try {
    for (const folder of folders) {
      let text = "";
      for (let at = 0; at < total; at += 1)
        text += `{"name":"order.placed","contact":{"email":"person${at}@example.com"},"properties":{"order":${at}}}\n`;
      writeFileSync(join(folder, "events.ndjson"), text);
    }
    row(
      `${total} records`,
      ...builds.flatMap((_, at) => [`${at} MB`, `${at} CPU s`, `${at} s`]),
      "MB ratio",
      "CPU ratio",
    );
    for (const job of jobs.filter(({ name }) =>
      wanted.some((part) => name.startsWith(part) || part === ""),
    )) {
      const runs: Measured[][] = builds.map(() => []);
      for (let round = 0; round < rounds; round += 1)
        for (const [at, dist] of builds.entries()) {
          await new Promise((done) => {
            service.once("message", done);
            service.send(job.version);
          });
          const folder = folders[at] ?? "";
          const [snapshot, first] = [join(folder, "contacts.snapshot"), join(folder, "first.snapshot")];
          for (const rest of ["events.checkpoint", "events.ndjson.checkpoint", "cli.snapshot"])
            rmSync(join(folder, rest), { force: true });
          if (job.snapshot !== undefined) rmSync(snapshot, { force: true });
          if (job.snapshot === "first") copyFileSync(first, snapshot);
          runs[at]?.push(await measure(job, { dist, url, folder, total }));
          if (job.snapshot === "none") copyFileSync(snapshot, first);
        }
      const of = (kind: keyof Measured): number[] => runs.map((all) => median(all.map((one) => one[kind])));
      const [peaks, cpus, seconds] = [of("peakMb"), of("cpu"), of("seconds")];
      const ratio = (values: number[]): string => (Number(values.at(-1)) / Number(values[0])).toFixed(2);
      row(
        job.name,
        ...builds.flatMap((_, at) => [
          peaks[at]?.toFixed(0) ?? "",
          cpus[at]?.toFixed(1) ?? "",
          seconds[at]?.toFixed(1) ?? "",
        ]),
        ratio(peaks),
        ratio(cpus),
      );
    }
  } finally {
    service.disconnect();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
};

if (task === "serve") serve(Number(rest[0]));
else await main(Number(task));
