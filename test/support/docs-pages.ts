import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "../../docs/.vitepress/pages.ts";
import { type Block, blocksOf, type Program, programsOf } from "./docs-blocks.ts";
import { root } from "./programs.ts";

/** A handwritten document, with its fenced blocks and the programs in them. */
export interface Document {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly programs: readonly Program[];
}

const read = (path: string): Document => {
  const text = readFileSync(join(root, path), "utf8");
  const blocks = blocksOf(text);
  return { path, text, blocks, programs: programsOf(blocks) };
};

/** README.md, the files for AI assistants, and every page of the site that is not generated. */
export const documents: readonly Document[] = [
  "README.md",
  "skills/touchpoint-sdk/SKILL.md",
  "skills/touchpoint-sdk/references/methods.md",
  "skills/touchpoint-sdk/references/errors.md",
  "docs/index.md",
  ...pages.map(({ path }) => `docs/${path}.md`),
].map(read);
