import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sections } from "./pages.ts";

const intro =
  "# Touchpoint SDK\n\n> The typed TypeScript client for the Touchpoint customer-relationship and outreach service: contacts, " +
  "companies, lists, events and one-to-one email. A whole service in memory comes with it.\n";

/**
 * Writes `llms.txt`, an index of the pages, `llms-full.txt`, their text, and each page's text beside it, for programs that
 * read documentation.
 */
export const writeLlmsTexts = async (srcDir: string, outDir: string): Promise<void> => {
  const index = sections.map(
    ({ text, pages }) =>
      `\n## ${text}\n\n${pages.map(({ path, title, about }) => `- [${title}](/${path}.md): ${about}`).join("\n")}\n`,
  );
  const texts = await Promise.all(
    sections.flatMap(({ pages }) => pages.map(({ path }) => readFile(join(srcDir, `${path}.md`), "utf8"))),
  );
  const paths = sections.flatMap(({ pages }) => pages.map(({ path }) => path));
  await Promise.all(paths.map((path, at) => writeFile(join(outDir, `${path}.md`), texts[at] ?? "")));
  await writeFile(join(outDir, "llms.txt"), intro + index.join(""));
  await writeFile(join(outDir, "llms-full.txt"), [intro, ...texts].join("\n"));
};
