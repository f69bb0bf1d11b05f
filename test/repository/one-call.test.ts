import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../support/programs.ts";

test("a create with default validation runs at most 100 functions in 22 files, and each function has a name", async () => {
  const program = ["--import", "tsx", "bench/one-call.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root });
  const [, files, functions] = /^(\d+) files, (\d+) functions, 0 without a name$/m.exec(stdout) ?? [];
  expect(Number(files)).toBeLessThanOrEqual(22);
  expect(Number(functions)).toBeLessThanOrEqual(100);
  expect(stdout.split("\n").filter((line) => line.includes("(no name)"))).toEqual([]);
});
