// Measures how much time NODE_COMPILE_CACHE saves in a fresh process that makes one call, for each Node that you name:
//   answer   wall time from the start of the process until the response has arrived
//   process  wall time of the complete process
// The runs with and without the cache take turns, and so do the versions.
//
//   npm run build && node bench/compile-cache.mjs [path of a node]...     (default: the Node that runs this; ROUNDS=15)
import { fork, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath];
const rounds = Number(process.env.ROUNDS ?? 15);

const service = fork(new URL("service.mjs", import.meta.url));
const port = await new Promise((resolve) => service.once("message", resolve));

const folder = mkdtempSync(join(tmpdir(), "bench-compile-cache-"));
const program = join(folder, "first-call.mjs");
writeFileSync(
  program,
  `import { Client } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
const client = new Client({ apiKey: "k", baseUrl: "http://127.0.0.1:${port}" });
await client.contacts.create({ email: "ada@example.com", name: "Ada" });
console.log(performance.now());
process.exit();
`,
);

const { NODE_COMPILE_CACHE: _own, NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
const run = (node, cache) => {
  const since = performance.now();
  const more = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
  const { status, stdout, stderr } = spawnSync(node, [program], {
    encoding: "utf8",
    env: { ...env, ...more },
  });
  if (status !== 0) throw new Error(stderr);
  return { answer: Number(stdout), process: performance.now() - since };
};
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const subjects = nodes.flatMap((node, index) => {
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const name = stdout.trim();
  return [
    { name: `${name} without`, node, runs: [] },
    { name: `${name} with`, node, cache: join(folder, `cache-${index}`), runs: [] },
  ];
});
try {
  // The first run with a cache writes it.
  for (const { node, cache } of subjects) run(node, cache);
  for (let round = 0; round < rounds; round += 1)
    for (const { node, cache, runs } of subjects) runs.push(run(node, cache));
  console.log(
    `medians of ${rounds}, in ms`.padEnd(26) +
      ["answer", "process"].map((what) => what.padStart(10)).join(""),
  );
  for (const { name, runs } of subjects) {
    const cells = ["answer", "process"].map((what) => median(runs.map((one) => one[what])).toFixed(0));
    console.log(name.padEnd(26) + cells.map((cell) => cell.padStart(10)).join(""));
  }
} finally {
  rmSync(folder, { recursive: true });
  service.disconnect();
}
process.exit();
