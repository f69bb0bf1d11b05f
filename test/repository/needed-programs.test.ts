import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInstalled, programsNeededBy } from "../support/needed-programs.ts";
import { root } from "../support/programs.ts";

const modules = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
  .map((path) => join(root, "test", path));

test("a module of the tests that starts a program of Debian's says so", () => {
  const starts = /(?:spawn|spawnSync|execFile)\(\s*"(\S+)"|executablePath: "\S*\/(\w+)"/g;
  // Node's and the shell's own are on every machine that runs the tests.
  const everywhere = ["npm", "npx", "bash", "sh", "git", "script", "openssl", "mkfifo"];
  for (const file of modules) {
    const started = [...readFileSync(file, "utf8").matchAll(starts)].flatMap(
      ([, one, other]) => one ?? other ?? [],
    );
    const needed = programsNeededBy(file);
    const unsaid = started.filter((program) => !everywhere.includes(program) && !needed.has(program));
    expect({ file, unsaid }).toEqual({ file, unsaid: [] });
  }
});

test("a test file needs what the modules that it imports need", () => {
  const at = (path: string): string[] => [...programsNeededBy(join(root, "test", path))];
  expect(at("e2e/fleet.campaign.test.ts")).toEqual(["redis-server"]);
  expect(at("browser/workbench.test.ts")).toEqual(["chromium"]);
  expect(at("e2e/sql/warehouse.test.ts")).toEqual(["psql", "initdb", "postgres"]);
  expect(at("unit/errors.test.ts")).toEqual([]);
});

test("a program is installed if the PATH has it", () => {
  expect([isInstalled("node"), isInstalled("no-such-program")]).toEqual([true, false]);
});
