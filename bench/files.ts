// Measures reading and writing of files, on one core and without a service.
//
//   npx tsx bench/files.ts            all parts
//   npx tsx bench/files.ts speed     one part: speed, columns or memory
//
// The second figure is that of csv-parse alone, which reads the same bytes in the same process and discards the records. A
// busy machine changes both figures.
import { fork } from "node:child_process";
import { Writable } from "node:stream";
import { parse } from "csv-parse";
import { readCsv, readNdjson, writeCsv } from "touchpoint-sdk/files";
import { row } from "./service-process.ts";

const contact = (n: number) => ({
  id: `co_${n}`,
  email: `person${n}@example.com`,
  name: `Ann Example ${n}`,
  title: "Head of Sales",
  phone: `+44 20 7946 ${n}`,
  linkedIn: `https://linkedin.example/in/person${n}`,
  stage: "lead",
  verified: "true",
  createdAt: "2026-01-01T00:00:00.000Z",
});
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("");
const plain = (n: number): string => `${Object.values(contact(n)).join(",")}\n`;
const header = `${Object.keys(contact(0)).join(",")}\n`;

const files: Readonly<Record<string, () => string>> = {
  "contacts, nothing quoted": () => header + lines(100_000, plain),
  "contacts, two cells quoted": () =>
    `${header.trimEnd()},notes,company\n${lines(80_000, (n) => `${plain(n).trimEnd()},"Met, ""nice""","Ada, Inc."\n`)}`,
  "notes of 1,000 characters": () =>
    `email,notes\n${lines(15_000, (n) => `p${n}@example.com,${"lorem ipsum ".repeat(83)}\n`)}`,
};

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
async function* source(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* chunksOf(bytes);
}

/** Megabytes per second of CPU time. Returns the best of five rounds, because other programs may use the machine too. */
const speed = async (bytes: number, work: () => Promise<void>): Promise<number> => {
  let best = 0;
  for (let round = 0; round < 5; round += 1) {
    const since = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(since);
    best = Math.max(best, bytes / (user + system));
  }
  return best;
};

const readAll = async (records: AsyncIterable<object>): Promise<void> => {
  for await (const _ of records);
};

const vendorAlone = async (bytes: Buffer): Promise<void> => {
  const parser = parse({ relax_column_count: true, on_record: () => null }).resume();
  for (const chunk of chunksOf(bytes)) await new Promise((resolve) => parser.write(chunk, resolve));
  await new Promise((resolve) => parser.end(resolve));
};

const parts = {
  speed: async (): Promise<void> => {
    row("MB per second of CPU", "readCsv", "csv-parse");
    for (const [name, text] of Object.entries(files)) {
      const bytes = Buffer.from(text());
      const ours = await speed(bytes.length, () => readAll(readCsv(source(bytes))));
      const vendor = await speed(bytes.length, () => vendorAlone(bytes));
      row(name, ours.toFixed(1), vendor.toFixed(1));
    }
    const records = Array.from({ length: 50_000 }, (_, n) => contact(n));
    const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
    const ndjson = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const read = await speed(ndjson.length, () => readAll(readNdjson(source(ndjson))));
    row("readNdjson", read.toFixed(1));
    const written = await speed(Buffer.byteLength(header + lines(50_000, plain)), async () => {
      await writeCsv(sink(), records);
    });
    row("writeCsv", written.toFixed(1));
  },
  columns: async (): Promise<void> => {
    row("columns", "seconds");
    for (const count of [1_000, 4_000, 16_000, 64_000]) {
      const bytes = Buffer.from(`${lines(count, (n) => `c${n},`)}end\n${"1,".repeat(count)}1\n`);
      const since = performance.now();
      await readAll(readCsv(source(bytes)));
      row(String(count), ((performance.now() - since) / 1_000).toFixed(3));
    }
  },
  memory: async (): Promise<void> => {
    row("megabytes read", "peak RSS in MB");
    for (const megabytes of [10, 100]) {
      const child = fork(import.meta.filename, ["peak", String(megabytes)]);
      const peak = await new Promise((resolve) => child.once("message", resolve));
      row(String(megabytes), String(peak));
    }
  },
  peak: async (): Promise<void> => {
    const block = Buffer.from(lines(5_000, plain));
    async function* blocks() {
      yield Buffer.from(header);
      for (let sent = 0; sent < Number(process.argv[3]) * 1e6; sent += block.length) yield* chunksOf(block);
    }
    await readAll(readCsv(blocks()));
    process.send?.(Math.round(process.resourceUsage().maxRSS / 1_024));
    process.disconnect();
  },
} as const;

const chosen = process.argv[2];
for (const [name, part] of Object.entries(parts)) {
  if (chosen === undefined ? name !== "peak" : name === chosen) await part();
}
