// Compares the CPU time per call of two builds of this package, in microseconds. Each build runs in its own processes, and
// the processes take turns.
//
//   node bench/builds.mjs <folder of one checkout> <folder of another>     (build both first)
import { fork } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const turns = 4;
const inFlight = 50;

const measure = async (folder, port) => {
  const { Client } = await import(pathToFileURL(resolve(folder, "dist/index.js")).href);
  const limits = { requests: { max: 1_000_000, windowMs: 10_000 }, requestsPerDay: 1_000_000_000 };
  const options = { apiKey: "bench", baseUrl: `http://127.0.0.1:${port}`, limits, concurrency: inFlight };
  const client = new Client(options);
  const calls = {
    post: () => client.contacts.create({ email: "ada@example.com" }),
    page: () => client.contacts.list({ limit: 200 }).then(() => undefined),
  };
  for (const [name, call] of Object.entries(calls)) {
    const rounds = [];
    for (let round = 0; round < 30; round += 1) {
      const before = process.cpuUsage();
      for (let at = 0; at < 4; at += 1) await Promise.all(Array.from({ length: inFlight }, call));
      const { user, system } = process.cpuUsage(before);
      rounds.push((user + system) / (4 * inFlight));
    }
    // The first half of the rounds only warms up V8.
    const warm = rounds.slice(rounds.length >> 1).sort((a, b) => a - b);
    console.log(`${name}  ${warm[warm.length >> 1].toFixed(0).padStart(5)} µs  ${folder}`);
  }
  await client.close();
  process.exit();
};

const compare = async (folders) => {
  const service = fork(new URL("service.mjs", import.meta.url));
  const port = await new Promise((listening) => service.once("message", listening));
  for (let turn = 0; turn < turns; turn += 1)
    for (const folder of folders)
      await new Promise((ended) =>
        fork(fileURLToPath(import.meta.url), ["--of", folder, String(port)]).once("exit", ended),
      );
  service.kill();
};

const [first, ...others] = process.argv.slice(2);
if (first === "--of") await measure(...others);
else await compare([first, ...others]);
