// Measures exports from the sandbox.
//
//   npx tsx bench/export.ts            time, memory and losses, in a few minutes
//   npx tsx bench/export.ts memory     one part: time, memory or drift
//
// Everything runs ten times faster than documented: 100 requests a second instead of per 10 s, and a latency of 2–30 ms
// instead of 20–300 ms. This changes the ratios only by the cost of timers and CPU. SCALE=1 runs at the documented limits.
import { fork } from "node:child_process";
import { Client } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";
import { row, startService } from "./service-process.ts";

const pageSize = 200;
const scale = Number(process.env.SCALE ?? 10);
const window = { max: 100, windowMs: 10_000 / scale };
const latencyMs = [20 / scale, 300 / scale] as const;
const unlimited = { requestsPerDay: 1e9, eventsPerDay: 1e9, emailsPerDay: 1e9 };

/** The shortest time in which the limit allows `requests`: one burst per window. */
const leastMs = (requests: number): number => (Math.ceil(requests / window.max) - 1) * window.windowMs;

const time = async (): Promise<void> => {
  const contacts = 100_000;
  console.log(
    `\n${contacts} contacts, ${window.max} requests per ${window.windowMs} ms, latency ${latencyMs.join("–")} ms`,
  );
  row("", "requests", "429s", "seconds", "least", "ratio");
  const limits = { requests: window, ...unlimited };
  const service = await startService(contacts, { limits, latencyMs, seed: 1 });
  const client = new Client({ apiKey: "key", baseUrl: service.url, limits });
  for (const consistency of ["strict", "fast"] as const) {
    // Wait until the window of the previous run has passed, so that both runs start with an unused limit.
    await new Promise((resolve) => setTimeout(resolve, 2 * window.windowMs));
    const before = await service.report();
    const since = performance.now();
    let count = 0;
    for await (const _contact of client.contacts.list({}, { consistency })) count += 1;
    const ms = performance.now() - since;
    const after = await service.report();
    const requests = after.counts.requests - before.counts.requests;
    const refused = (after.counts.byStatus["429"] ?? 0) - (before.counts.byStatus["429"] ?? 0);
    const least = leastMs(requests);
    const name = `${consistency} (${count} read, ${((requests / (contacts / pageSize) - 1) * 100).toFixed(1)} % more requests)`;
    row(
      name,
      requests,
      refused,
      (ms / 1_000).toFixed(2),
      (least / 1_000).toFixed(2),
      (ms / least).toFixed(3),
    );
  }
  await client.close();
  service.stop();
};

const exportHere = async (url: string): Promise<void> => {
  const client = new Client({ apiKey: "key", baseUrl: url, limits: false });
  let count = 0;
  for await (const _contact of client.contacts.list()) count += 1;
  await client.close();
  process.send?.({ count, peakMb: process.resourceUsage().maxRSS / 1_024 });
};

const memory = async (): Promise<void> => {
  console.log("\npeak memory of a process that exports contacts and stores none of them");
  row("contacts", "read", "peak MB");
  for (const contacts of [10_000, 100_000, 1_000_000]) {
    const service = await startService(contacts, { limits: false });
    const child = fork(new URL(import.meta.url), ["here", service.url], { execArgv: ["--import", "tsx"] });
    const { count, peakMb } = await new Promise<{ count: number; peakMb: number }>((resolve) =>
      child.once("message", resolve as (value: unknown) => void),
    );
    row(contacts, count, peakMb.toFixed(0));
    child.disconnect();
    service.stop();
  }
};

/** Returns a random number generator for 0 ≤ n < 1. The same seed gives the same numbers. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

type Losses = { missed: number; repeated: number; requests: number };

/** Exports 5,000 contacts, while contacts are added and deleted before every request. */
const movingExport = async (
  seed: number,
  how: {
    readonly order: "oldest-first" | "newest-first";
    readonly prefetch: number;
    readonly consistency: "strict" | "fast";
  },
): Promise<Losses> => {
  const people = 5_000;
  const random = randomFrom(seed);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, order: how.order, keepRequests: 0, seed });
  sandbox.seedContacts(people);
  const alive = sandbox.state.contacts.map(({ id }) => id);
  const throughout = new Set(alive);
  const move = (): void => {
    for (let changes = Math.floor(random() * 6); changes > 0; changes -= 1) {
      if (random() < 0.5) {
        sandbox.addContact({ email: `new-${seed}-${Math.floor(random() * 1e12)}@example.com` });
      } else {
        const [gone] = alive.splice(Math.floor(random() * alive.length), 1);
        if (gone !== undefined) {
          sandbox.removeContact(gone);
          throughout.delete(gone);
        }
      }
    }
  };
  const fetch = (url: string, init: RequestInit): Promise<Response> => {
    move();
    return sandbox.fetch(url, init);
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const seen = new Map<string, number>();
  for await (const { id } of client.contacts.list(
    {},
    { prefetch: how.prefetch, consistency: how.consistency },
  ))
    seen.set(id, (seen.get(id) ?? 0) + 1);
  let missed = 0;
  for (const id of throughout) if (!seen.has(id)) missed += 1;
  let repeated = 0;
  for (const times of seen.values()) repeated += times - 1;
  return { missed, repeated, requests: sandbox.state.counts.requests };
};

const drift = async (): Promise<void> => {
  const seeds = 200;
  console.log(
    `\n5,000 contacts, 0 to 5 added or deleted before every request, ${seeds} seeds: the worst seed, and the sum over all seeds`,
  );
  row("", "missed", "repeated", "all missed", "all repeated", "requests");
  for (const consistency of ["strict", "fast"] as const) {
    for (const order of ["oldest-first", "newest-first"] as const) {
      for (const prefetch of [1, 16]) {
        const runs: Losses[] = [];
        for (let seed = 1; seed <= seeds; seed += 1)
          runs.push(await movingExport(seed, { order, prefetch, consistency }));
        const most = (of: keyof Losses): number => Math.max(...runs.map((run) => run[of]));
        const sum = (of: keyof Losses): number => runs.reduce((total, run) => total + run[of], 0);
        const name = `${consistency === "fast" ? "naive" : "ours"}, ${order}, prefetch ${prefetch}`;
        row(
          name,
          most("missed"),
          most("repeated"),
          sum("missed"),
          sum("repeated"),
          (sum("requests") / seeds).toFixed(1),
        );
      }
    }
  }
};

const [part, url] = process.argv.slice(2);
if (part === "here" && url !== undefined) {
  await exportHere(url);
} else {
  if (part === undefined || part === "time") await time();
  if (part === undefined || part === "memory") await memory();
  if (part === undefined || part === "drift") await drift();
}
