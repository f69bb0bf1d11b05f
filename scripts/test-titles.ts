import { readFileSync } from "node:fs";
import ts from "typescript";

/** The function at the root of `test`, `test.each(…)`, `test.concurrent.each(…)`. */
const rootOf = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node)) return `${rootOf(node.expression)}.${node.name.text}`;
  if (ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node))
    return rootOf(ts.isCallExpression(node) ? node.expression : node.tag);
  return "";
};

const isLeftOut = /\.(skip|todo|skipIf|runIf|fails)\b/;
const runs = /^(test|it)(\.(each|for|concurrent|sequential))*$/;

/** The titles of the tests a file holds, as written; a test that is skipped or left for later is none. */
export const titlesIn = (file: string): readonly string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && runs.test(rootOf(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    if (!ts.isCallExpression(node) || !isLeftOut.test(rootOf(node.expression))) ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
};
