import { expect, test } from "vitest";
import { documents } from "../support/docs-pages.ts";
import { editor } from "../support/editor.ts";

// pg-boss needs a newer Node than this package: test/databases compiles its block.
const blocks = documents.flatMap(({ path, programs: all }) =>
  all.filter(({ code }) => !code.includes('from "pg-boss"')).map(({ line, code }) => ({ path, line, code })),
);
// The quickstarts save their first block under this name, and the others import it.
const shared = blocks.findIndex(({ path }) => path === "docs/guide/quickstarts.md");
const programs = blocks.map(({ path, line, code }) => {
  const named = code.replaceAll(/"(?:\.\.?\/)+touchpoint\.ts"/g, `"./shown-${shared}.ts"`);
  return { path, line, text: `${named}\nexport {};\n` };
});
const opened = editor(programs.map(({ text }) => text));

test.each(programs)("the block of $path at line $line has right types", ({ text }) => {
  expect(opened(text).errors).toEqual([]);
});
