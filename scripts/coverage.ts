import { readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";
import { serviceDocument } from "../test/contract/document.ts";
import type { Held, Section, Statement } from "../test/contract/document-statement.ts";

/** The name of the function that a call starts with, for example `test.each` for `test.each(…)(…)`. */
const rootOf = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node)) return `${rootOf(node.expression)}.${node.name.text}`;
  if (ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node))
    return rootOf(ts.isCallExpression(node) ? node.expression : node.tag);
  return "";
};

const isSkipped = /\.(skip|todo|skipIf|runIf|fails)\b/;
const runs = /^(test|it)(\.(each|for|concurrent|sequential))*$/;

/** The titles of the tests in a file, as written. Skipped tests and todos do not count. */
export const titlesIn = (file: string): readonly string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && runs.test(rootOf(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    if (!ts.isCallExpression(node) || !isSkipped.test(rootOf(node.expression))) ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
};

/** The file of the table. */
export const coverageFile = new URL("../test/contract/coverage.md", import.meta.url);

const titles = new Map<string, ReadonlySet<string>>();

const exists = ({ file, title }: Held): boolean => {
  const titlesOfFile = titles.get(file) ?? new Set(titlesIn(new URL(`../${file}`, import.meta.url).pathname));
  titles.set(file, titlesOfFile);
  return titlesOfFile.has(title);
};

const nameOf = (section: Section, index: number): string => `${section.name} ${index + 1}`;

/** Lists the statements without a test, and the tests that do not exist. */
export const holes = (document: readonly Section[]): string[] =>
  document.flatMap((section) =>
    section.statements.flatMap((statement, index) => {
      const name = `${nameOf(section, index)} (${statement.says})`;
      if (statement.heldBy.length === 0) return [`${name}: no test covers it`];
      return statement.heldBy
        .filter((held) => !exists(held))
        .map(({ file, title }) => `${name}: ${file} has no test "${title}"`);
    }),
  );

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

const row = ({ says, heldBy }: Statement, index: number): string => {
  const tests = heldBy.map(({ file, title }) => `${file.replace("test/", "")}: ${title}`);
  return `| ${index + 1} | ${cell(says)} | ${tests.map(cell).join("<br>")} |`;
};

const part = ({ name, statements }: Section): string =>
  [
    `## ${name}`,
    "",
    "| # | the document says | covered by |",
    "|---|---|---|",
    ...statements.map(row),
    "",
  ].join("\n");

/** The text that the committed file must have. */
export const coverageText = (document: readonly Section[]): string => {
  const count = document.reduce((sum, { statements }) => sum + statements.length, 0);
  const intro =
    "The statements of the service document, in our words, and the tests that cover them. `npm run generate` writes this " +
    "file from the files `document*.ts` beside it. A statement without a test fails the build. If a statement begins with " +
    "*not shown*, its test shows that the library leaves the question open.";
  return `# ${count} statements of the service document\n\n${intro}\n\n${document.map(part).join("\n")}`;
};

if (process.argv[1] === import.meta.filename) {
  writeFileSync(coverageFile, coverageText(serviceDocument));
  for (const hole of holes(serviceDocument)) console.error(hole);
}

/** The text of the committed file. */
export const committedCoverage = (): string => readFileSync(coverageFile, "utf8");
