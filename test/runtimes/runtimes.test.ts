import { readFileSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Listening } from "../../src/sandbox/index.ts";
import { run, type Scratch, scratch } from "../package/support/scratch.ts";
import { root } from "../support/programs.ts";
import { bundlers, installed, interceptors, oldNode, type Runtime, runtimes } from "./install.ts";

interface Step {
  readonly name: string;
  readonly failure?: string;
}

const endless = Number.POSITIVE_INFINITY;
const found = new Map<string, readonly Step[]>();

/** Three services: as it should be, stalling in every body, gone after every effect. */
const serve = async (): Promise<readonly Listening[]> => {
  const open = () => createSandbox({ apiKeys: ["tp_key"], limits: false });
  const [plain, stalling, resetting] = [open(), open(), open()];
  plain.seedContacts(450);
  stalling.fail({ with: "stall", times: endless });
  resetting.fail({ with: "reset-after-apply", times: endless });
  return Promise.all([plain, stalling, resetting].map((sandbox) => sandbox.listen()));
};

const parts = ["job.mjs", "worker.mjs", "worker-at-once.mjs", "steps.mjs"];
const stepCount = { "job.mjs": 10, "worker.mjs": 9 };

const projectWith = async (files: readonly string[]): Promise<Scratch> => {
  const project = await scratch([]);
  for (const file of files) await cp(join(root, "test/runtimes", file), join(project.folder, file));
  return project;
};

test.each([...runtimes, ...bundlers])(
  "the job runs on $name",
  async ({ name, command: [program = "", ...args], job }) => {
    const project = await projectWith(parts);
    const services = await serve();
    try {
      const [plain, stalling, resetting] = services;
      const { stdout, stderr, code } = await run(program, [...args, job], project.folder, {
        PLAIN_URL: plain?.url,
        STALLING_URL: stalling?.url,
        RESETTING_URL: resetting?.url,
        FOLDER: project.folder,
        INSTALLED: installed,
        PACKAGE: project.installed,
      });
      // As job.mjs prints it, a line at a time.
      const steps = stdout.split("\n").map((line) => JSON.parse(line || "{}") as Step);
      found.set(name, steps);
      expect({ code, failures: steps.filter(({ failure }) => failure), count: steps.length }, stderr).toEqual(
        {
          code: 0,
          failures: [],
          count: stepCount[job],
        },
      );
    } finally {
      await Promise.all(services.map((server) => server.close()));
      await project.remove();
    }
  },
);

test("in workerd, which ties timers to their request, requests at once have budgets of their own", async () => {
  const project = await projectWith(parts);
  const [plain, ...others] = await serve();
  const workerd = runtimes.find(({ name }) => name === "workerd");
  const [program = "", ...args] = workerd?.command ?? [];
  try {
    const env = { PLAIN_URL: plain?.url, INSTALLED: installed, AT_ONCE: "3" };
    const { stdout, stderr } = await run(program, [...args, "worker-at-once.mjs"], project.folder, env);
    expect(stdout.split("\n"), stderr).toEqual(["[1,1,1]", "[1,1,1]", "[1,1,1]"]);
  } finally {
    await Promise.all([plain, ...others].map((server) => server?.close()));
    await project.remove();
  }
});

test.each([
  [
    "Parcel without its setting",
    "bundle.mjs",
    "parcel-as-it-comes",
    "Failed to resolve 'touchpoint-sdk/files'",
  ],
  ["Next.js's edge runtime", "next-edge.mjs", "", "Native module not found: node:diagnostics_channel"],
])("%s does not build the job", async (_what, file, kind, reason) => {
  const project = await projectWith(parts);
  const args = [join(root, "test/runtimes", file), kind, "job.mjs"];
  const env = { INSTALLED: installed, PACKAGE: project.installed };
  const { stdout, stderr, code } = await run(process.execPath, args, project.folder, env);
  await project.remove();
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining(reason)]);
});

test.each([
  ["ESM", ["--input-type=module", "--eval", 'import "touchpoint-sdk"']],
  ["CommonJS", ["--eval", 'require("touchpoint-sdk")']],
  ["the sandbox", ["--eval", 'require("touchpoint-sdk/sandbox")']],
])("Node 18 is told that it is too old when it imports %s", async (_what, args) => {
  const project = await projectWith([]);
  const { stderr } = await run(oldNode.command[0] ?? "", args, project.folder);
  await project.remove();
  expect(stderr).toMatch(
    /^ConfigurationError: touchpoint-sdk needs Node\.js \S+ or newer, and this is 18\.\S+: update Node\.js$/m,
  );
});

const typed = `
import { createSandbox, type Sandbox } from "touchpoint-sdk/sandbox";
import { Client, type Contact } from "touchpoint-sdk";

const sandbox: Sandbox = createSandbox({ apiKeys: ["key"] });
const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
const { email }: Contact = await client.contacts.create({ email: "ada@example.com" });
console.log(email satisfies string);
await client.close();
`;

test.each([24, 26])("Node %s runs a program in TypeScript as it is", async (version) => {
  const project = await projectWith([]);
  await project.write("program.mts", typed);
  const [node = ""] = runtimes.find(({ name }) => name === `Node ${version}`)?.command ?? [];
  const ending = await run(node, ["program.mts"], project.folder);
  await project.remove();
  expect(ending).toEqual({ code: 0, stdout: "ada@example.com", stderr: "" });
});

const nodes = [20, 22, 24, 26];
const intercepted = new Map<string, string>();

test.each(
  interceptors.flatMap((interceptor) =>
    nodes
      .filter((node) => node >= interceptor.leastNode)
      .flatMap((node) => ["before", "after"].map((when) => ({ ...interceptor, node, when }))),
  ),
)("$name sees the client on Node $node, set up $when the package", async (cell) => {
  const { name, kind, version, node, when } = cell;
  const project = await projectWith(["intercept.mjs", "steps.mjs"]);
  const [program = ""] = runtimes.find((runtime) => runtime.name === `Node ${node}`)?.command ?? [];
  // As a program that runs under no test runner, where any replaced fetch is taken for a double.
  const env = { INSTALLED: installed, VITEST: undefined, JEST_WORKER_ID: undefined };
  const { code, stderr } = await run(program, ["intercept.mjs", kind, version, when], project.folder, env);
  await project.remove();
  intercepted.set(`${name} ${node} ${when}`, code === 0 ? "yes" : "no");
  expect(code, stderr).toBe(0);
});

test("docs/runtimes.md matches the results of this run", () => {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const cell = (runtime: string, step: string): string => {
    const ran = found.get(runtime)?.find(({ name }) => name === step);
    return ran === undefined ? "–" : ran.failure === undefined ? "yes" : "no";
  };
  const steps = [...found.values()][0]?.map(({ name }) => name) ?? [];
  const table = (columns: readonly Runtime[]): string => {
    const names = columns.map(({ name }) => name);
    return [
      row(["Step", ...names]),
      row(["---", ...names.map(() => "---")]),
      ...steps.map((step) => row([step, ...names.map((runtime) => cell(runtime, step))])),
    ].join("\n");
  };
  const doubles = [
    row(["Interceptor", ...nodes.map((node) => `Node ${node}`)]),
    row(["---", ...nodes.map(() => "---")]),
    ...interceptors.map(({ name }) =>
      row([
        name,
        ...nodes.map((node) => {
          const cells = ["before", "after"].map((when) => intercepted.get(`${name} ${node} ${when}`) ?? "–");
          return [...new Set(cells)].join(" / ");
        }),
      ]),
    ),
  ].join("\n");
  const text = `# Runtimes and bundlers

<!-- \`test/runtimes/runtimes.test.ts\` writes this page. Do not edit it. To update it, run \`UPDATE_DOCS=1 npx vitest run --project runtimes\`. -->

The tests run the same job on each of these runtimes, with the package as it is published:

${table(runtimes)}

workerd has no files: there, the ledger is in memory, and the checkpoint is in a store of the program. Node 24 and 26 run a
TypeScript program that uses the package directly, without a build step. In a project with Yarn Plug'n'Play (4.18), exports,
imports, ledgers and checkpoints in files work, too. Deno needs \`--allow-net\` and \`--allow-env\`, and
for files \`--allow-read\` and \`--allow-write\`.

## Bundlers

The tests also bundle the job with the package, and run the result on Node 20. With Next.js, the job is a route handler. Some
bundlers need a setting:

- esbuild to ES modules needs a banner: \`const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);\`
- Vite 8 and tsdown build with Rolldown.
- Rollup needs \`external: [/^node:/, /^undici/]\`. Install undici where the program runs.
- Next.js's edge runtime, which is deprecated in Next.js 16.4, has no \`node:diagnostics_channel\`, so the build fails. Delete
  \`export const runtime = "edge"\` from the route.
- Parcel needs \`"@parcel/resolver-default": { "packageExports": true }\` in the \`package.json\` beside the lock file. Without it,
  Parcel does not find \`touchpoint-sdk/files\`. The target needs \`"outputFormat": "commonjs"\` and \`"scopeHoist": false\`.

${table(bundlers.slice(0, 5))}

${table(bundlers.slice(5, 9))}

The last two columns of the next table are executables, which contain their runtime. \`node --build-sea\` builds the executable
of Node from esbuild's CommonJS file.

${table(bundlers.slice(9))}

## Interceptors of tests

The tests set up each interceptor in two ways: before the package is imported, and after a first call. A request that the
interceptor handles gets the interceptor's response. Any other request fails with the outcome \`not-applied\`, and nothing reaches the
network. MSW 3, nock 15 and undici 8 do not run on Node 20.

${doubles}
`;
  const file = join(root, "docs/runtimes.md");
  if (process.env.UPDATE_DOCS === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
});
