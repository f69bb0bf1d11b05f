// Measures the import of the package in a fresh process, with and without a first call, as a ratio to undici:
//   answer   wall time from the first line of the program until the module is loaded, or the response has arrived
//   process  wall time of the complete process, minus that of an empty program. It includes about 60 ms in which V8
//            optimizes undici's WebAssembly parser on another thread: such a short process waits for it at its end.
//   cpu      CPU time of the complete process, minus that of an empty program
//
//   npm run bench:cold            (build first; `npm --prefix bench install` once adds the other SDKs)
import { fork, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const requireHere = createRequire(import.meta.url);
const urlOf = (name) => {
  try {
    return pathToFileURL(requireHere.resolve(name)).href;
  } catch {
    return undefined;
  }
};

const service = fork(new URL("service.mjs", import.meta.url));
const port = await new Promise((resolve) => service.once("message", resolve));
const origin = `http://127.0.0.1:${port}`;
const body = '{ email: "ada@example.com", name: "Ada" }';

// In the code, `sdk` is the imported module. Each program awaits its first response.
const subjects = {
  undici: {
    url: urlOf("undici"),
    call: `const answer = await sdk.request("${origin}/api/v1/contacts", { method: "POST", headers: { authorization: "Bearer k", "content-type": "application/json" }, body: JSON.stringify(${body}) });
      JSON.parse(await answer.body.text());`,
  },
  "touchpoint-sdk": {
    url: new URL("../dist/index.js", import.meta.url).href,
    call: `await new sdk.Client({ apiKey: "k", baseUrl: "${origin}" }).contacts.create(${body});`,
  },
  "node:http": {
    url: "node:http",
    call: `const text = await new Promise((resolve) => sdk.request("${origin}/api/v1/contacts", { method: "POST" }, (response) => {
      const chunks = []; response.on("data", (chunk) => chunks.push(chunk)); response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    }).end(JSON.stringify(${body}))); JSON.parse(text);`,
  },
  stripe: {
    url: urlOf("stripe"),
    call: `const Stripe = sdk.default ?? sdk; await new (Stripe.default ?? Stripe)("sk_test_x", { host: "127.0.0.1", port: ${port}, protocol: "http", telemetry: false }).customers.create(${body});`,
  },
  resend: { url: urlOf("resend"), call: `await new sdk.Resend("re_x").post("/contacts", ${body});` },
  openai: {
    url: urlOf("openai"),
    call: `await new sdk.OpenAI({ apiKey: "k", baseURL: "${origin}" }).post("/contacts", { body: ${body} });`,
  },
};

const folder = mkdtempSync(join(tmpdir(), "bench-cold-"));
const env = { ...process.env, RESEND_BASE_URL: origin };
// Node would read these certificates in every process, which would add to all times.
delete env.NODE_EXTRA_CA_CERTS;

const write = (name, url, call) => {
  const file = join(folder, `${name.replace(/\W/g, "-")}.mjs`);
  const load = url === undefined ? "" : `const sdk = await import(${JSON.stringify(url)});`;
  writeFileSync(
    file,
    `const since = performance.now();\n${load}\n${call}\nconsole.log(performance.now() - since);\nprocess.exit();\n`,
  );
  return file;
};

// The shell's `time` reports the CPU time of a process that has ended.
const run = (file) => {
  const since = performance.now();
  const command = `TIMEFORMAT='%U %S'; time "${process.execPath}" "${file}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8", env });
  const wall = performance.now() - since;
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return { answer: Number(stdout), process: wall, cpu: (user + system) * 1_000 };
};
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const rounds = Number(process.env.ROUNDS ?? 15);
const compare = (title, callOf) => {
  const entries = Object.entries(subjects)
    .filter(([name, { url }]) => url !== undefined || console.log(`${name}: not installed, left out`))
    .map(([name, { url, call }]) => ({ name, file: write(name, url, callOf(call)), runs: [] }));
  entries.unshift({ name: "node alone", file: write("node", undefined, ""), runs: [] });
  for (const { file } of entries) run(file);
  for (let round = 0; round < rounds; round += 1) for (const { file, runs } of entries) runs.push(run(file));
  const [node, base] = entries;
  const added = (entry, what) =>
    median(entry.runs.map((one) => one[what])) -
    (what === "answer" ? 0 : median(node.runs.map((one) => one[what])));
  console.log(
    `\n${title.padEnd(24)}${["answer", "process", "cpu"].map((what) => what.padStart(20)).join("")}`,
  );
  for (const entry of entries.slice(1)) {
    const cells = ["answer", "process", "cpu"].map((what) => {
      const ms = added(entry, what);
      return `${ms.toFixed(0)} ms = ${(ms / added(base, what)).toFixed(2)} x`.padStart(20);
    });
    console.log(`  ${entry.name.padEnd(22)}${cells.join("")}`);
  }
};

try {
  compare("import", () => "");
  compare("import and first call", (call) => call);
} finally {
  rmSync(folder, { recursive: true });
  service.disconnect();
}
process.exit();
