// Makes many calls through one client while the service fails at random. The heap must stay flat, and a signal that all calls
// share must not collect listeners. Over sockets, the DNS name gets another address halfway, and the client must follow it.
//
//   node --expose-gc --import tsx bench/soak.ts [calls] [fetch|sockets]
import { subscribe } from "node:diagnostics_channel";
import dns from "node:dns";
import { getEventListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import { Client, type ClientOptions, isTouchpointError } from "../src/index.ts";
import { createSandbox, type Fault, type Sandbox, type SandboxState } from "../src/sandbox/index.ts";

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
  "missing-fields",
  { status: 500 },
  { status: 307, headers: { location: "https://elsewhere.example/api/v1/" } },
  { status: 204, applied: true },
  { status: 503, retryAfter: "0.001" },
  { status: 429, retryAfter: "0.001" },
];

/** The address of every name under `.localhost`. The machine resolves other names. */
const hosts = { address: "127.0.0.1" };

/** When each address received its last request. */
const lastRequestAt = new Map<string, number>();

const lookup = dns.lookup;
// node:net calls `dns.lookup` for each connection, so this replacement simulates a DNS record that changes.
Object.assign(dns, {
  lookup: (name: string, ...rest: readonly unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith(".localhost") ? hosts.address : name, ...rest]),
});

subscribe("http.server.request.start", (message) => {
  // node:http documents this message.
  const { request } = message as { readonly request: IncomingMessage };
  lastRequestAt.set(request.socket.localAddress ?? "", performance.now());
});

const heapMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

/** The kinds of calls, in turn. None of them adds records to the sandbox that would grow the heap. */
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
  (client, _id, options) =>
    client.emails.send({ to: "ada@example.com", subject: "Hello", text: "Hello." }, options),
  // After the first call, the ledger returns the receipt.
  (client, _id, options) =>
    client.emails.send(
      { to: "ada@example.com", subject: "Once", text: "Once." },
      { ...options, once: "soak" },
    ),
];

/** Removes the emails that the sandbox stores, because they would grow the heap. Returns how many there were. */
const forgetEmails = ({ state }: Sandbox): number =>
  // The property is readonly, but it is the sandbox's own array.
  (state.emails as SandboxState["emails"][number][]).splice(0).length;

let movedAt = 0;

const moveName = (): void => {
  hosts.address = "127.0.0.2";
  movedAt = performance.now();
};

/** Makes calls until none has gone to the old address for 10 s, and prints when the last one did. */
const followName = async (makeCalls: () => Promise<void>): Promise<void> => {
  const longestMs = 90_000;
  const since = (address: string): number => performance.now() - (lastRequestAt.get(address) ?? 0);
  while (since("127.0.0.1") < 10_000 && performance.now() - movedAt < longestMs) await makeCalls();
  const lastMs = (lastRequestAt.get("127.0.0.1") ?? 0) - movedAt;
  const isFollowed = since("127.0.0.1") >= 10_000 && since("127.0.0.2") < 1_000;
  console.log(
    `sockets: after the change of address, ${isFollowed ? "no" : "some"} requests still go to the old address; ` +
      `the last one went there ${(lastMs / 1_000).toFixed(1)} s after the change`,
  );
};

const soak = async (door: string): Promise<void> => {
  const sandbox = createSandbox({ limits: false, keepRequests: 1, seed: 1, apiKeys: [door] });
  const { id } = sandbox.addContact({ email: "ada@example.com" });
  sandbox.seedContacts(40);
  const plans = faults.map((fault) =>
    sandbox.fail({ with: fault, chance: 0.005, times: Number.POSITIVE_INFINITY }),
  );
  const server = door === "sockets" ? await sandbox.listen() : undefined;
  const moved = server && (await sandbox.listen({ host: "127.0.0.2", port: server.port }));
  const options: ClientOptions =
    server === undefined
      ? { baseUrl: "https://service.test", fetch: sandbox.fetch }
      : { baseUrl: `http://service.localhost:${server.port}` };
  // Without backoff, the program spends its time on calls.
  const client = new Client({ ...options, apiKey: door, limits: false }, { random: () => 0 });
  const { signal } = new AbortController();
  const began = performance.now();
  let next = 0;
  let failed = 0;
  let listeners = 0;
  let emails = 0;
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
    if (moved !== undefined && report === reports / 2 + 1) moveName();
    await Promise.all(Array.from({ length: callsAtOnce }, () => work(until)));
    emails += forgetEmails(sandbox);
    const rate = Math.round(next / ((performance.now() - began) / 1_000));
    console.log(
      `${door}: ${next} calls, ${failed} failed, ${rate}/s, heap ${heapMb().toFixed(1)} MB, ` +
        `${emails} emails, listeners at most ${listeners}, now ${getEventListeners(signal, "abort").length}`,
    );
  }
  if (moved !== undefined) {
    await followName(() => work(next + 1_000));
    emails += forgetEmails(sandbox);
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
  // A call that was waiting may have reopened the client, so close it again.
  await client.close();
  await server?.close();
  await moved?.close();
};

for (const door of doors) await soak(door);
// Node releases the handle of a closed socket a little later.
await new Promise((resolve) => setTimeout(resolve, 200));
console.log(
  `left open: ${process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length} sockets`,
);
