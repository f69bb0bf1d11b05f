import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { blocksOf, programsOf } from "../support/docs-blocks.ts";
import { root } from "../support/programs.ts";

test("the guide's lines and the example compile with today's pg-boss", async () => {
  const guide = programsOf(blocksOf(await readFile(`${root}docs/guide/jobs.md`, "utf8")));
  const programs = guide.filter(({ code }) => code.includes('from "pg-boss"'));
  expect(programs).toHaveLength(1);
  await mkdir(`${root}tmp/pg-boss`, { recursive: true });
  await writeFile(`${root}tmp/pg-boss/guide.ts`, `${programs[0]?.code}\nexport {};\n`);
  const tsc = [`${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", `${root}test/databases`];
  const { stdout } = await promisify(execFile)(process.execPath, tsc).catch((error) => error);
  expect(stdout).toBe("");
});
