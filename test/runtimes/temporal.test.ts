import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../package/support/scratch.ts";
import { root } from "../support/programs.ts";
import { runtimes } from "./install.ts";

const node26 = runtimes.find(({ name }) => name === "Node 26")?.command[0] ?? "";

test("the Temporal of Node 26 is accepted like that of the polyfills", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const tests = ["--project", "unit", "test/flow/temporal.test.ts", "--reporter", "verbose"];
  const { code, stdout } = await run(node26, [vitest, "run", ...tests], root);
  expect(code, stdout).toBe(0);
  expect(stdout.match(/with the Temporal of this runtime/g)?.length).toBe(11);
});
