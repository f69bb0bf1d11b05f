// Counts the requests of an import, as a ratio to the smallest possible number: 1 per 200 contacts of the list, and 1 per
// change. Or measures the memory of an import into a large workspace.
//
//   npx tsx bench/import.ts          20,000 rows
//   npx tsx bench/import.ts 1000     another number of rows
//   npx tsx --expose-gc bench/import.ts memory 1000000     memory for so many contacts and rows, one in a thousand changed
//
// The requests go to a sandbox without limits in the same process. For memory, the service computes its contacts and stores
// nothing.
import { Client } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";
import { row } from "./service-process.ts";

const [part = "20000", count = "1000000"] = process.argv.slice(2);
const person = (at: number) => ({
  email: `person${at}@example.com`,
  name: `Person ${at}`,
  customFields: { plan: "free", seats: at % 7 },
});

const countRequests = async (rows: number): Promise<void> => {
  row(`${rows} rows and ${rows} contacts`, "GET", "POST", "PATCH", "least", "ratio", "seconds");
  for (const changed of [0, 0.01, 1]) {
    const sandbox = createSandbox({ apiKeys: ["key"], limits: false, keepRequests: 0 });
    sandbox.seedContacts(rows, (at) => person(at));
    const counts: Record<string, number> = { GET: 0, POST: 0, PATCH: 0 };
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      const method = String(init.method);
      counts[method] = (counts[method] ?? 0) + 1;
      return sandbox.fetch(url, init);
    };
    const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
    const input = Array.from({ length: rows }, (_, at) =>
      changed > 0 && at % Math.round(1 / changed) === 0 ? { ...person(at), name: `New ${at}` } : person(at),
    );
    const since = performance.now();
    const report = await client.contacts.import(input);
    const seconds = ((performance.now() - since) / 1_000).toFixed(1);
    const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const least = Math.ceil(rows / 200) + report.updated;
    const { GET, POST, PATCH } = counts;
    const name = `${100 * changed} % changed: ${report.updated} updated, ${report.unchanged} unchanged`;
    row(name, GET ?? 0, POST ?? 0, PATCH ?? 0, least, (requests / least).toFixed(3), seconds);
    await client.close();
  }
};

/** A service that computes its contacts and stores nothing. */
const computed = (contacts: number, onPatch: () => void) => (url: string, init: RequestInit) => {
  const json = (body: object) =>
    Promise.resolve(new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } }));
  const stored = (at: number) => ({
    ...{ id: `8c1e4f0a-0000-4000-8000-${String(at).padStart(12, "0")}`, stage: "NEW", source: "MANUAL" },
    ...{
      verified: true,
      listIds: [],
      createdAt: "2026-01-31T09:00:00.000Z",
      updatedAt: "2026-01-31T09:00:00.000Z",
    },
    ...person(at),
  });
  if (init.method === "PATCH") {
    onPatch();
    return json(stored(Number(url.slice(-12))));
  }
  const query = new URL(url).searchParams;
  const [skip, limit] = [Number(query.get("skip")), Number(query.get("limit") ?? 50)];
  const length = Math.max(0, Math.min(limit, contacts - skip));
  return json({ data: Array.from({ length }, (_, at) => stored(skip + at)), total: contacts, skip, limit });
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;

const liveBytes = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const measureMemory = async (contacts: number): Promise<void> => {
  const patches = Math.ceil(contacts / 1_000);
  let seen = 0;
  let atTheEnd = 0;
  const fetch = computed(contacts, () => {
    seen += 1;
    if (seen === patches) atTheEnd = liveBytes();
  });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const rowsOf = async function* () {
    for (let at = 0; at < contacts; at += 1)
      yield at % 1_000 === 0 ? { ...person(at), name: `New ${at}` } : person(at);
  };
  const before = liveBytes();
  const since = performance.now();
  const { updated, unchanged } = await client.contacts.import(rowsOf());
  const seconds = ((performance.now() - since) / 1_000).toFixed(0);
  await client.close();
  const peak = process.resourceUsage().maxRSS * 1024;
  row(`${contacts} contacts and rows`, "updated", "unchanged", "live", "a contact", "peak RSS", "seconds");
  const each = `${Math.round((atTheEnd - before) / contacts)} B`;
  row("an import", updated, unchanged, megabytes(atTheEnd - before), each, megabytes(peak), seconds);
};

if (part === "memory") await measureMemory(Number(count));
else await countRequests(Number(part));
