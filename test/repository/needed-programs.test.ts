import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInstalled, programsNeededBy } from "../support/needed-programs.ts";
import { root } from "../support/programs.ts";

const modules = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
  .map((path) => join(root, "test", path));

test("a test module that starts a program of Debian declares it", () => {
  const starts = /(?:spawn|spawnSync|execFile)\(\s*"(\S+)"|executablePath: "\S*\/(\w+)"/g;
  // Every machine that runs the tests has these programs.
  const everywhere = ["npm", "npx", "bash", "sh", "git", "script", "openssl", "mkfifo"];
  for (const file of modules) {
    const started = [...readFileSync(file, "utf8").matchAll(starts)].flatMap(
      ([, one, other]) => one ?? other ?? [],
    );
    const needed = programsNeededBy(file);
    const undeclared = started.filter((program) => !everywhere.includes(program) && !needed.has(program));
    expect({ file, undeclared }).toEqual({ file, undeclared: [] });
  }
});

test("a test file needs the programs of the modules that it imports", () => {
  const at = (path: string): string[] => [...programsNeededBy(join(root, "test", path))];
  expect(at("e2e/fleet.campaign.test.ts")).toEqual(["redis-server"]);
  expect(at("browser/workbench.test.ts")).toEqual(["chromium"]);
  expect(at("e2e/sql/warehouse.test.ts")).toEqual(["psql", "initdb", "postgres"]);
  expect(at("unit/errors.test.ts")).toEqual([]);
});

test("a program is installed if the PATH has it", () => {
  expect([isInstalled("node"), isInstalled("no-such-program")]).toEqual([true, false]);
});
