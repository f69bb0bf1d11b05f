// Puts 50 connections on a signup route for a minute, at the documented limits. Prints what the callers get, and how many
// requests the route spends on callers whom it then refuses.
//
//   npx tsx bench/server.ts        (build first; SECONDS=30 sets another duration)
import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, RateLimitError } from "touchpoint-sdk";
import { median, row, startService } from "./service-process.ts";

const seconds = Number(process.env.SECONDS ?? 60);
const connections = 50;
const latencyMs = 50;

const service = await startService(0, { latencyMs });
const client = new Client({ apiKey: "key", baseUrl: service.url, maxWaitMs: 200 });
const list = await client.lists.create({ name: "Signups" });
const recorder = client.events.recorder();

// How many signups are in progress. Each of them will send an email.
let signingUp = 0;
// How many requests went to the service for callers who then got a 429.
let spentInVain = 0;
let signups = 0;

const signUp = async (email: string): Promise<void> => {
  let requests = 0;
  try {
    await client.contacts.upsert({ email });
    requests += 1;
    await client.lists.addContacts(list.id, [email]);
    requests += 1;
    await recorder.record({ name: "signup", contact: { email } });
    await client.emails.send({ to: email, subject: "Welcome", text: "Hello" });
  } catch (error) {
    spentInVain += requests;
    throw error;
  }
};

const server = createServer(async (_, response) => {
  const { remaining, resetsInMs } = client.budgets().emails;
  const refuse = (ms = 0): void => {
    response.writeHead(429, { "retry-after": `${Math.max(1, Math.ceil(ms / 1_000))}` }).end();
  };
  if (remaining <= signingUp) return refuse(resetsInMs);
  signingUp += 1;
  signups += 1;
  await signUp(`user-${signups}@example.com`).then(
    () => response.writeHead(201).end(),
    (error: unknown) => {
      if (error instanceof RateLimitError) return refuse(error.retryAfterMs);
      console.error(error);
      response.writeHead(500).end();
    },
  );
  signingUp -= 1;
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statusOf = (): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ agent, port, host: "127.0.0.1" }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    }).once("error", reject);
  });

const tookMs = new Map<number, number[]>();
const until = performance.now() + seconds * 1_000;
const caller = async (): Promise<void> => {
  while (performance.now() < until) {
    const since = performance.now();
    const status = await statusOf();
    const took = tookMs.get(status) ?? [];
    tookMs.set(status, took);
    took.push(performance.now() - since);
    // A real caller pauses before the next try. Without the pause, the benchmark would measure loopback sockets.
    await sleep(50);
  }
};
await Promise.all(Array.from({ length: connections }, caller));

console.log(
  `\nsignup (upsert, list, event, email), ${connections} connections, ${seconds} s, maxWaitMs 200, ${latencyMs} ms latency`,
);
row("status", "callers", "median", "longest", "wanted");
for (const [status, took] of tookMs) {
  const longest = took.reduce((most, ms) => Math.max(most, ms), 0);
  row(status, took.length, `${median(took).toFixed(0)} ms`, `${longest.toFixed(0)} ms`, "<= 1000 ms");
}
const { counts, emails } = await service.report();
console.log(`  emails sent: ${emails}, ${(emails / seconds) * 60} a minute (20 wanted)`);
console.log(`  requests spent on callers who got a 429: ${spentInVain} (0 wanted)`);
console.log(
  `  429s from the service: ${counts.byStatus["429"] ?? 0} (0 wanted), of ${counts.requests} requests`,
);
agent.destroy();
server.close();
await client.close();
service.stop();
