// Many calls under faults through one client: `npm run soak -- [calls] [fetch|sockets]`. The heap must stay flat, and a
// signal that all calls share must not collect listeners.
import { getEventListeners } from "node:events";
import { Client, type ClientOptions, isTouchpointError } from "../src/index.ts";
import { createSandbox, type Fault } from "../src/sandbox/index.ts";

const calls = Number(process.argv[2] ?? 200_000);
const doors = process.argv[3] === undefined ? ["fetch", "sockets"] : [process.argv[3]];
const callsAtOnce = 32;
const reports = 10;

const faults: readonly Fault[] = [
  "reset-before",
  "reset-after-apply",
  "truncate",
  "garbage",
  "html-502",
  "empty-500",
  "redirect",
  "no-content",
  "unknown-fields",
  { status: 503, retryAfter: "0.001" },
  { status: 429, retryAfter: "0.001" },
];

const heapMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

/** The calls in turn; each leaves nothing behind in the sandbox that would grow the heap by itself. */
const turns: readonly ((
  client: Client,
  id: string,
  options: { readonly signal: AbortSignal },
) => Promise<unknown>)[] = [
  async (client, _id, options) => client.contacts.list({ limit: 20 }, options),
  (client, id, options) => client.contacts.update(id, { name: "Ada" }, options),
  (client, _id, options) => client.contacts.find("ada@example.com", options),
  (client, id, options) => client.events.record({ id: "1", name: "seen", contact: { id } }, options),
  (client, id, options) => client.events.recordBatch([{ id: "2", name: "seen", contact: { id } }], options),
  (client, _id, options) => client.companies.create({ companyName: "Acme", domain: "acme.example" }, options),
];

const soak = async (door: string): Promise<void> => {
  const sandbox = createSandbox({ limits: false, keepRequests: 1, seed: 1, apiKeys: [door] });
  const { id } = sandbox.addContact({ email: "ada@example.com" });
  sandbox.seedContacts(40);
  const plans = faults.map((fault) =>
    sandbox.fail({ with: fault, chance: 0.005, times: Number.POSITIVE_INFINITY }),
  );
  const server = door === "sockets" ? await sandbox.listen() : undefined;
  const options: ClientOptions =
    server === undefined
      ? { baseUrl: "https://service.test", fetch: sandbox.fetch }
      : { baseUrl: server.url };
  // No back-off: the time of a soak goes into calls.
  const client = new Client({ ...options, apiKey: door, limits: false }, { random: () => 0 });
  const { signal } = new AbortController();
  const began = performance.now();
  let next = 0;
  let failed = 0;
  let listeners = 0;
  const work = async (until: number): Promise<void> => {
    while (next < until) {
      const turn = turns[next % turns.length];
      next += 1;
      try {
        await turn?.(client, id, { signal });
      } catch (error) {
        if (!isTouchpointError(error)) throw error;
        failed += 1;
      }
      listeners = Math.max(listeners, getEventListeners(signal, "abort").length);
    }
  };
  for (let report = 1; report <= reports; report += 1) {
    const until = Math.round((calls * report) / reports);
    await Promise.all(Array.from({ length: callsAtOnce }, () => work(until)));
    const rate = Math.round(next / ((performance.now() - began) / 1_000));
    console.log(
      `${door}: ${next} calls, ${failed} failed, ${rate}/s, heap ${heapMb().toFixed(1)} MB, ` +
        `listeners at most ${listeners}, now ${getEventListeners(signal, "abort").length}`,
    );
  }
  for (const plan of plans) plan.remove();
  const inFlight = Array.from({ length: 500 }, async () => client.contacts.list({}, { signal }));
  const settled = Promise.allSettled(inFlight);
  await client.close();
  const ended = await settled;
  const cut = ended.filter(({ status }) => status === "rejected").length;
  console.log(
    `${door}: close() during traffic: ${ended.length} of 500 calls settled, ${cut} of them cut off`,
  );
  // A call that was waiting may have opened sockets again; closing is for good now.
  await client.close();
  await server?.close();
};

for (const door of doors) await soak(door);
// A handle that has closed is let go of a little later.
await new Promise((resolve) => setTimeout(resolve, 200));
console.log(
  `left open: ${process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length} sockets`,
);
