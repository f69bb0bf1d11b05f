import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../support/programs.ts";

test("no function that a call runs through is without a name", async () => {
  const program = ["--import", "tsx", "bench/one-call.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
  expect(stdout).toMatch(/^\S+ files, \d+ functions, \d+ without a name$/m);
  expect(stdout.split("\n").filter((line) => line.includes("(no name)"))).toEqual([]);
});
