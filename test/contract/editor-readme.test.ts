import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/language-service.ts";
import { blocksOf, programsOf } from "../support/docs-blocks.ts";
import { editor } from "../support/editor.ts";

const programs = programsOf(blocksOf(readFileSync(join(root, "README.md"), "utf8")));
const textOf = (code: string): string => `${code}\nexport {};\n`;
const opened = editor(programs.map(({ code }) => textOf(code)));

test.each(programs)("the block of README.md at line $line has right types", ({ code }) => {
  expect(opened(textOf(code)).errors).toEqual([]);
});
