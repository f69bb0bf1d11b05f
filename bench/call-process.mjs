// A process that bench/call.mjs starts. It measures every client in short rounds and sends the figures to its parent.
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { Agent, request } from "undici";

const { Client } = await import("../dist/index.js");
const requireHere = createRequire(import.meta.url);
const peer = (name) => {
  try {
    return requireHere(name);
  } catch {
    return undefined;
  }
};

const service = fork(new URL("service.mjs", import.meta.url));
const port = await new Promise((resolve) => service.once("message", resolve));
const origin = `http://127.0.0.1:${port}`;
const body = { email: "ada@example.com", name: "Ada Lovelace", customFields: { plan: "pro" } };

const wideAgent = new Agent({ connections: 64 });
const headers = { authorization: "Bearer key", "content-type": "application/json" };
const bare = async (method, path, payload, dispatcher = wideAgent) => {
  const answer = await request(origin + path, {
    dispatcher,
    method,
    headers,
    body: payload && JSON.stringify(payload),
  });
  return JSON.parse(await answer.body.text());
};

const wide = { max: 1_000_000_000, windowMs: 10_000 };
const limits = {
  requests: wide,
  events: wide,
  emails: wide,
  requestsPerDay: 1e12,
  eventsPerDay: 1e12,
  emailsPerDay: 1e12,
};
// The client has its defaults, except for limits so high that no call waits, and enough concurrency for 50 calls in flight.
const client = new Client({ apiKey: "key", baseUrl: origin, limits, concurrency: 64 });

// With the default concurrency, 16 of 50 callers are in flight. Fewer sockets cost more per call: each turn of the event
// loop reads fewer responses. So undici is also measured with 16 sockets.
const usual = new Client({ apiKey: "key", baseUrl: origin, limits });
const narrowAgent = new Agent({ connections: 16 });

const posts = {
  "undici.request": () => bare("POST", "/api/v1/contacts", body),
  "touchpoint-sdk": () => client.contacts.create(body),
};
const callers = {
  "undici.request": posts["undici.request"],
  "undici, 16 sockets": () => bare("POST", "/api/v1/contacts", body, narrowAgent),
  "touchpoint-sdk": () => usual.contacts.create(body),
};
const pages = {
  "undici.request": () => bare("GET", "/api/v1/contacts?limit=200"),
  "touchpoint-sdk": () => client.contacts.list({ limit: 200 }),
};

const Stripe = peer("stripe");
if (Stripe) {
  const stripe = new (Stripe.default ?? Stripe)("sk_test_x", {
    host: "127.0.0.1",
    port,
    protocol: "http",
    telemetry: false,
  });
  posts.stripe = () => stripe.customers.create({ email: body.email, name: body.name });
  pages.stripe = () => stripe.customers.list({ limit: 100 });
}
const openai = peer("openai");
if (openai) {
  const api = new openai.OpenAI({ apiKey: "key", baseURL: origin });
  posts.openai = () => api.post("/contacts", { body });
  pages.openai = () => api.get("/contacts");
}
process.env.RESEND_BASE_URL = origin;
const resend = peer("resend");
if (resend) {
  const api = new resend.Resend("re_x");
  posts.resend = () => api.post("/contacts", body);
  pages.resend = () => api.get("/contacts");
}

const cpuPerCall = async (call, count, inFlight) => {
  const before = process.cpuUsage();
  let started = 0;
  const worker = async () => {
    while (started++ < count) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
};

const rounds = Number(process.env.ROUNDS ?? 12);
const compare = async (title, subjects, count, inFlight) => {
  // In the first three rounds, V8 is still compiling: a call costs up to five times as much as a warm one.
  for (let round = 0; round < 3; round += 1)
    for (const call of Object.values(subjects)) await cpuPerCall(call, count, inFlight);
  const order = Object.keys(subjects);
  for (let round = 0; round < rounds; round += 1) {
    const figures = {};
    for (const name of order) figures[name] = await cpuPerCall(subjects[name], count, inFlight);
    process.send({ title, figures });
    // A client pays for some of the garbage of the client before it, so each follows each of the others equally often.
    order.push(order.shift());
    if (round % order.length === order.length - 1) order.reverse();
  }
};

await compare("POST of a small record, 1 in flight", posts, 1_000, 1);
await compare("POST of a small record, 50 in flight", posts, 1_000, 50);
await compare("POST, 50 callers, default concurrency", callers, 1_000, 50);
await compare("page of 200 contacts, 1 in flight", pages, 100, 1);
await compare("page of 200 contacts, 50 in flight", pages, 200, 50);
await Promise.all([client.close(), usual.close()]);
service.disconnect();
process.exit();
