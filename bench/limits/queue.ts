import { fork } from "node:child_process";
import { Client } from "touchpoint-sdk";
import { median } from "../service-process.ts";

const callers = 50;
const wide = { max: 1_000_000, windowMs: 3_600_000 };
const days = { requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 };
const rounds = 21;
const callsOfRound = 500;

/** Makes so many calls from 50 callers. Returns the CPU time per call in µs. */
const perCallUs = async (client: Client, calls: number): Promise<number> => {
  let left = calls;
  const before = process.cpuUsage();
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.contacts.create({ email: "ada@example.com" });
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};

/**
 * Measures what waiting for a slot costs if no limit applies, and what earlier calls in the same window add to a call. Needs a
 * build.
 */
export const priceOfQueueing = async (): Promise<void> => {
  const service = fork(new URL("../service.mjs", import.meta.url), { execArgv: [] });
  const port = await new Promise((resolve) => service.once("message", resolve));
  const clientOf = (name: string, concurrency: number): Client =>
    new Client({
      apiKey: name,
      baseUrl: `http://127.0.0.1:${port}`,
      limits: { requests: wide, ...days },
      concurrency,
    });
  const clients = {
    free: clientOf("free", callers),
    queued: clientOf("queued", 16),
    little: clientOf("little", callers),
    much: clientOf("much", callers),
  };
  // All clients are warm. They differ in how many calls their windows contain.
  await perCallUs(clients.much, 32_000);
  await perCallUs(clients.little, 8_000);
  await perCallUs(clients.free, 2_000);
  await perCallUs(clients.queued, 2_000);
  const prices = {
    free: [] as number[],
    queued: [] as number[],
    little: [] as number[],
    much: [] as number[],
  };
  const ratios = { queue: [] as number[], fill: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const cost = { free: 0, queued: 0, little: 0, much: 0 };
    for (const name of ["free", "queued", "little", "much"] as const) {
      cost[name] = await perCallUs(clients[name], callsOfRound);
      prices[name].push(cost[name]);
    }
    ratios.queue.push(cost.queued / cost.free);
    ratios.fill.push(cost.much / cost.little);
  }
  const us = (name: keyof typeof prices): string => `${median(prices[name]).toFixed(0)} us`;
  console.log(
    `${callers} callers, no limit reached: concurrency 16 costs ${median(ratios.queue).toFixed(2)} times concurrency ${callers} (${us("queued")}, ${us("free")}; <= 1.25 wanted)`,
  );
  console.log(
    `a call after 32,000 calls in its window costs ${median(ratios.fill).toFixed(2)} times a call after 8,000 (${us("much")}, ${us("little")}; 1 wanted; medians of ${rounds} rounds that take turns)`,
  );
  await Promise.all(Object.values(clients).map((client) => client.close()));
  service.kill();
};
