import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sections } from "./pages.ts";

const intro =
  "# Touchpoint SDK\n\n> The typed TypeScript client for the Touchpoint customer-relationship and outreach service: contacts, " +
  "companies, lists, events and one-to-one email. A whole service in memory comes with it.\n";

/** Replaces each match by a text that has to be read. */
const replaced = async (
  text: string,
  pattern: RegExp,
  read: (match: readonly string[]) => Promise<string>,
): Promise<string> => {
  const texts = await Promise.all([...text.matchAll(pattern)].map(read));
  return text.replace(pattern, () => texts.shift() ?? "");
};

/** A page's Markdown as it is read outside of the site: what VitePress includes stands in it, its components do not. */
export const plainText = async (file: string): Promise<string> => {
  const beside = (path = ""): Promise<string> => readFile(join(dirname(file), path), "utf8");
  const text = await readFile(file, "utf8");
  const included = await replaced(text, /<!--@include: (\S+?)\{(\d+),\}-->/g, async ([, path, from]) =>
    (await beside(path))
      .split("\n")
      .slice(Number(from) - 1)
      .join("\n"),
  );
  const shown = await replaced(included, /^<<< (\S+?)(?:\{\w+\})?$/gm, async ([, path = ""]) => {
    const code = await beside(path);
    return `\`\`\`${path.split(".").at(-1)}\n${code.trim()}\n\`\`\``;
  });
  return shown.replace(/^(<!-- (continues|types only|picture .+) -->|:::.*)\n\n?/gm, "");
};

/**
 * Writes `llms.txt`, an index of the pages, `llms-full.txt`, their text, and each page's text beside it, for programs that
 * read documentation.
 */
export const writeLlmsTexts = async (srcDir: string, outDir: string, homepage = "/"): Promise<void> => {
  const index = sections.map(
    ({ text, pages }) =>
      `\n## ${text}\n\n${pages.map(({ path, title, about }) => `- [${title}](${homepage}${path}.md): ${about}`).join("\n")}\n`,
  );
  const paths = sections.flatMap(({ pages }) => pages.map(({ path }) => path));
  const texts = await Promise.all(paths.map((path) => plainText(join(srcDir, `${path}.md`))));
  await Promise.all(paths.map((path, at) => writeFile(join(outDir, `${path}.md`), texts[at] ?? "")));
  await writeFile(join(outDir, "llms.txt"), intro + index.join(""));
  await writeFile(join(outDir, "llms-full.txt"), [intro, ...texts].join("\n"));
};
