// How many requests an import makes beside the fewest that could do: 1 per 200 contacts of the list, 1 per change.
//
//   npx tsx bench/import.ts           20,000 rows
//   npx tsx bench/import.ts 1000   so many
//
// The sandbox is in the same process, and counts no limits.
import { Client } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";
import { row } from "./service-process.ts";

const rows = Number(process.argv[2] ?? 20_000);
const person = (at: number) => ({
  email: `person${at}@example.com`,
  name: `Person ${at}`,
  customFields: { plan: "free", seats: at % 7 },
});

row(`${rows} rows, as many contacts`, "GET", "POST", "PATCH", "least", "ratio", "seconds");
for (const changed of [0, 0.01, 1]) {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, keepRequests: 0 });
  // The index of a contact that is seeded.
  sandbox.seedContacts(rows, (at) => person(at));
  const counts: Record<string, number> = { GET: 0, POST: 0, PATCH: 0 };
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    const method = String(init.method);
    counts[method] = (counts[method] ?? 0) + 1;
    return sandbox.fetch(url, init);
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const given = Array.from({ length: rows }, (_, at) =>
    changed > 0 && at % Math.round(1 / changed) === 0 ? { ...person(at), name: `New ${at}` } : person(at),
  );
  const since = performance.now();
  const report = await client.contacts.import(given);
  const seconds = ((performance.now() - since) / 1_000).toFixed(1);
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const least = Math.ceil(rows / 200) + report.updated;
  const { GET, POST, PATCH } = counts;
  const name = `${100 * changed} % changed: ${report.updated} updated, ${report.unchanged} unchanged`;
  row(name, GET ?? 0, POST ?? 0, PATCH ?? 0, least, (requests / least).toFixed(3), seconds);
  await client.close();
}
