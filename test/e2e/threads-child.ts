import { parentPort } from "node:worker_threads";
import { Client } from "../../src/index.ts";

/** A thread with clients that do not count, that cannot say so, and then some that count alone; posts what their log says. */
const warnings: string[] = [];
const ignore = (): void => undefined;
const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => warnings.push(text) };
const shared = { apiKey: "k", baseUrl: "http://127.0.0.1" };
const clients = [
  new Client({ ...shared, logger, limits: false }),
  new Client(shared),
  new Client({ ...shared, logger }),
  new Client({ ...shared, logger, apiKey: "other", limits: { requests: { max: 50, windowMs: 10_000 } } }),
  new Client({ ...shared, logger, apiKey: () => "k" }),
];
await Promise.all(clients.map((client) => client.close()));
parentPort?.postMessage(warnings);
