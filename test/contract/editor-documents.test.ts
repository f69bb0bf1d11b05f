import { expect, test } from "vitest";
import { documents } from "../support/docs-pages.ts";
import { editor } from "../support/editor.ts";

const programs = documents.flatMap(({ path, programs: all }) =>
  all.map(({ line, code }) => ({ path, line, text: `${code}\nexport {};\n` })),
);
const opened = editor(programs.map(({ text }) => text));

test.each(programs)("the block of $path at line $line has right types", ({ text }) => {
  expect(opened(text).errors).toEqual([]);
});
