import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../support/programs.ts";

const longest = 60;

/** The functions of a source that are longer than 60 lines, as `file:line`. */
const longFunctions = (file: string, text: string): string[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const within = (node: ts.Node): string[] => {
    const start = lineOf(node.getStart(source));
    const isLong = ts.isFunctionLike(node) && lineOf(node.end) - start >= longest;
    const inner: string[] = [];
    ts.forEachChild(node, (child) => {
      inner.push(...within(child));
    });
    return isLong ? [`${file}:${start}`, ...inner] : inner;
  };
  return within(source);
};

test.each(["src/call", "src/http"])("no function in %s is longer than 60 lines", (folder) => {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts")).map((file) => join(folder, file));
  expect(sources).not.toEqual([]);
  const texts = sources.map((file) => [file, readFileSync(join(root, file), "utf8")] as const);
  expect(texts.flatMap(([file, text]) => longFunctions(file, text))).toEqual([]);
});

test("a function of 61 lines is reported", () => {
  const body = "  step();\n";
  const planted = (steps: number): string => `\nconst run = () => {\n${body.repeat(steps)}};\n`;
  expect(longFunctions("a.ts", planted(58))).toEqual([]);
  expect(longFunctions("a.ts", planted(59))).toEqual(["a.ts:2"]);
});
