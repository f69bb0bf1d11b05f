// What a fresh process pays: for the import alone, and for the import and a first call. CPU and wall time, each as a
// ratio to undici, less what starting node costs by itself.
//
//   npm run bench:cold            (build first; `npm --prefix bench install` once adds the other SDKs)
import { fork, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const requireHere = createRequire(import.meta.url);
const url = (name) => {
  try {
    return pathToFileURL(requireHere.resolve(name)).href;
  } catch {
    return undefined;
  }
};
const ours = new URL("../dist/index.js", import.meta.url).href;
const undici = url("undici");

const service = fork(new URL("service.mjs", import.meta.url));
const port = await new Promise((resolve) => service.once("message", resolve));
const origin = `http://127.0.0.1:${port}`;
const body = '{ email: "ada@example.com", name: "Ada" }';

const imports = { "node alone": "", undici: `import ${JSON.stringify(undici)};`, "touchpoint-sdk": `import ${JSON.stringify(ours)};` };
const firstCalls = {
  "node alone": "",
  undici: `import { request } from ${JSON.stringify(undici)};
    const r = await request("${origin}/api/v1/contacts", { method: "POST", headers: { authorization: "Bearer k", "content-type": "application/json" }, body: JSON.stringify(${body}) });
    JSON.parse(await r.body.text()); process.exit();`,
  "touchpoint-sdk": `import { Client } from ${JSON.stringify(ours)};
    await new Client({ apiKey: "k", baseUrl: "${origin}" }).contacts.create(${body}); process.exit();`,
};
if (url("stripe")) {
  imports.stripe = `import ${JSON.stringify(url("stripe"))};`;
  firstCalls.stripe = `import Stripe from ${JSON.stringify(url("stripe"))};
    await new (Stripe.default ?? Stripe)("sk_test_x", { host: "127.0.0.1", port: ${port}, protocol: "http", telemetry: false }).customers.create(${body}); process.exit();`;
}
if (url("resend")) {
  imports.resend = `import ${JSON.stringify(url("resend"))};`;
  firstCalls.resend = `process.env.RESEND_BASE_URL = "${origin}"; const { Resend } = await import(${JSON.stringify(url("resend"))});
    await new Resend("re_x").post("/contacts", ${body}); process.exit();`;
}
if (url("openai")) {
  imports.openai = `import ${JSON.stringify(url("openai"))};`;
  firstCalls.openai = `import { OpenAI } from ${JSON.stringify(url("openai"))};
    await new OpenAI({ apiKey: "k", baseURL: "${origin}" }).post("/contacts", { body: ${body} }); process.exit();`;
}

const folder = mkdtempSync(join(tmpdir(), "bench-cold-"));
const run = (file) => {
  const before = process.resourceUsage();
  const wall = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  const wallMs = performance.now() - wall;
  return { wallMs, before };
};
// The CPU of children that have ended is told by the shell's own accounting; wall time by ours.
const cpuOf = (file) => {
  const { stderr, status } = spawnSync("bash", ["-c", `TIMEFORMAT='%U %S'; time "${process.execPath}" "${file}"`], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return (user + system) * 1_000;
};
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const rounds = Number(process.env.ROUNDS ?? 15);
const compare = (title, programs) => {
  const files = Object.entries(programs).map(([name, code], at) => {
    const file = join(folder, `${title.replaceAll(" ", "-")}-${at}.mjs`);
    writeFileSync(file, code);
    run(file);
    return { name, file, wall: [], cpu: [] };
  });
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of files) {
      entry.wall.push(run(entry.file).wallMs);
      entry.cpu.push(cpuOf(entry.file));
    }
  }
  const [node, base] = files;
  const least = { wall: median([...node.wall]), cpu: median([...node.cpu]) };
  const added = (entry, what) => median([...entry[what]]) - least[what];
  console.log(`\n${title}: added to node's own ${least.wall.toFixed(0)} ms wall, ${least.cpu.toFixed(0)} ms CPU`);
  for (const entry of files.slice(1)) {
    const parts = ["wall", "cpu"].map((what) => {
      const ratio = added(entry, what) / added(base, what);
      const whole = median([...entry[what]]) / median([...base[what]]);
      return `${what} ${added(entry, what).toFixed(0).padStart(4)} ms = ${ratio.toFixed(2)} x undici's (whole process ${whole.toFixed(2)} x)`;
    });
    console.log(`  ${entry.name.padEnd(16)} ${parts.join("   ")}`);
  }
};

try {
  compare("import", imports);
  compare("import and first call", firstCalls);
} finally {
  rmSync(folder, { recursive: true });
  service.disconnect();
}
process.exit();
