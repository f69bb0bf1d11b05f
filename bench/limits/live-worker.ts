// A process that live.ts starts: makes the calls of its cells until live.ts ends it, then reports how long calls took and waited.
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Limits } from "../../src/index.ts";
import type { CellTask, Waits, WorkerTask } from "./live.ts";
import { limitsAt } from "./store.ts";

// live.ts passes the task.
const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
// The documented 300 emails a day would not last until the end of the benchmark.
const days = { requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 } satisfies Partial<Limits>;
const event = { name: "x", contact: { email: "ada@example.com" } };
const email = { to: "ada@example.com", subject: "x", text: "x" };
const store = task.store === undefined ? undefined : limitsAt(task.store);
let isEnding = false;

/** The calls whose response reports how long they waited. */
const calls = {
  requests: (client: Client) => client.request({ method: "GET", path: "/api/v1/contacts" }).withResponse(),
  emails: (client: Client) => client.emails.send(email).withResponse(),
} as const;

const callOf = async (client: Client, lane: string): Promise<number> => {
  if (lane === "requests" || lane === "emails") return (await calls[lane](client)).response.waitedMs;
  const size = Number(lane.split(" ")[1]);
  const since = performance.now();
  await client.events.recordBatch(Array.from({ length: size }, () => event));
  // The service takes 50 ms for a response; the rest of the time is waiting.
  return Math.max(0, performance.now() - since - 50);
};

async function* endlessEvents() {
  for (let n = 0; !isEnding; n += 1) yield { ...event, properties: { n } };
}

const backgrounds: Readonly<Record<string, (client: Client) => Promise<void>>> = {
  export: async (client) => {
    while (!isEnding) for await (const _contact of client.contacts.list()) if (isEnding) break;
  },
  ingest: async (client) => {
    await client.events.ingest(endlessEvents());
  },
};

const interactives = {
  find: (client: Client) => client.contacts.find("nobody@example.com").withResponse(),
  record: (client: Client) => client.events.record(event).withResponse(),
} as const;

const startCell = (cell: CellTask): (() => Promise<Waits>) => {
  const shared = store?.open({ id: cell.name, ...days });
  const roundTripsMs: number[] = [];
  const waits: Record<string, number[]> = { roundTripsMs };
  const measuredFrom = performance.now() + task.learnMs;
  const onResponse = ({ durationMs }: { readonly durationMs: number }): void => {
    if (performance.now() >= measuredFrom) roundTripsMs.push(durationMs);
  };
  const options = { apiKey: "key", baseUrl: cell.url, hooks: { onResponse } };
  const client = new Client({ ...options, limits: shared ?? days });
  const ended = (): undefined => undefined;
  for (const [lane, callers] of Object.entries(cell.callers ?? {})) {
    const ofLane: number[] = [];
    waits[lane] = ofLane;
    for (let caller = 0; caller < callers; caller += 1)
      void (async () => {
        while (!isEnding) {
          const since = performance.now();
          const waitedMs = await callOf(client, lane);
          if (since >= measuredFrom) ofLane.push(waitedMs);
        }
      })().catch(ended);
  }
  if (cell.background !== undefined) void backgrounds[cell.background]?.(client).catch(ended);
  if (cell.interactive !== undefined) {
    const tookMs: number[] = [];
    const waitedMs: number[] = [];
    Object.assign(waits, { tookMs, waitedMs });
    const { name, countedFromMs } = cell.interactive;
    const countedFrom = performance.now() + countedFromMs;
    void (async () => {
      while (!isEnding) {
        const since = performance.now();
        void interactives[name](client)
          .then(({ response }) => {
            if (since < countedFrom) return;
            waitedMs.push(response.waitedMs);
            tookMs.push(performance.now() - since);
          })
          .catch(ended);
        await sleep(1_000);
      }
    })();
  }
  return async () => {
    await client.close({ graceMs: 0 });
    return waits;
  };
};

process.on("message", (message) => {
  if (message === "go") {
    const ends = task.cells.map(startCell);
    process.once("message", async () => {
      isEnding = true;
      const waits = await Promise.all(ends.map((end) => end()));
      await store?.close();
      process.send?.(Object.fromEntries(task.cells.map(({ name }, at) => [name, waits[at]])), () =>
        process.exit(),
      );
    });
  }
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
