import { readFileSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox, type Listening } from "../../src/sandbox/index.ts";
import { run, scratch } from "../package/support/scratch.ts";
import { root } from "../support/programs.ts";
import { runtimes } from "./install.ts";

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

test.each(runtimes)("the job runs on $name", async ({ name, command: [program = "", ...args] }) => {
  const project = await scratch([]);
  const services = await serve();
  try {
    await cp(join(root, "test/runtimes/job.mjs"), join(project.folder, "job.mjs"));
    const [plain, stalling, resetting] = services;
    const { stdout, stderr, code } = await run(program, [...args, "job.mjs"], project.folder, {
      PLAIN_URL: plain?.url,
      STALLING_URL: stalling?.url,
      RESETTING_URL: resetting?.url,
      FOLDER: project.folder,
    });
    // As job.mjs prints it, a line at a time.
    const steps = stdout.split("\n").map((line) => JSON.parse(line || "{}") as Step);
    found.set(name, steps);
    expect({ code, failures: steps.filter(({ failure }) => failure), count: steps.length }, stderr).toEqual({
      code: 0,
      failures: [],
      count: 10,
    });
  } finally {
    await Promise.all(services.map((server) => server.close()));
    await project.remove();
  }
});

test("docs/runtimes.md is what this run found", () => {
  const names = [...found.keys()];
  const steps = [...found.values()][0]?.map(({ name }) => name) ?? [];
  const cell = (runtime: string, step: string): string => {
    const ran = found.get(runtime)?.find(({ name }) => name === step);
    return ran === undefined ? "–" : ran.failure === undefined ? "yes" : "no";
  };
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const table = [
    row(["Step", ...names]),
    row(["---", ...names.map(() => "---")]),
    ...steps.map((step) => row([step, ...names.map((runtime) => cell(runtime, step))])),
  ].join("\n");
  const text = `# One job on every runtime

Printed by \`test/runtimes/runtimes.test.ts\` from the packed package; do not edit. \`UPDATE_DOCS=1 npm run test:runtimes\`
writes it again.

${table}
`;
  const file = join(root, "docs/runtimes.md");
  if (process.env.UPDATE_DOCS === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
});
