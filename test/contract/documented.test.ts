import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { programOf, root } from "../../scripts/api.ts";
import { entry } from "../../tsup.config.ts";

const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => `src/${path}`);

/** The code of every `@example` of a file, each a module of its own. */
const examplesIn = (path: string): [string, string][] => {
  const blocks = readFileSync(root + path, "utf8").matchAll(
    /^ *\* @example.*\n *\* ```ts\n([\s\S]*?)^ *\* ```$/gm,
  );
  return [...blocks].map(([, code = ""], index) => [
    `examples/${path.replaceAll("/", "-").replace(/ts$/, "")}${index + 1}.ts`,
    `${code.replace(/^ *\* ?/gm, "")}export {};\n`,
  ]);
};

const examples = new Map(sources.flatMap(examplesIn));

// What an example need not declare.
const given = `declare global {
  const client: import("touchpoint-sdk").Client;
  const sandbox: import("touchpoint-sdk/sandbox").Sandbox;
  const redis: import("ioredis").Redis;
}
export {};
`;

const program = programOf({
  files: Object.values(entry),
  texts: new Map([...examples, ["examples/given.ts", given]]),
  options: { noUnusedLocals: false },
});
const checker = program.getTypeChecker();

const docsOf = (symbol: ts.Symbol): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();

const isOwn = (symbol: ts.Symbol): boolean =>
  symbol.declarations?.some((declaration) =>
    declaration.getSourceFile().fileName.startsWith(`${root}src/`),
  ) ?? false;

/** What a name stands for that is exported under it. */
const exportsOf = (file: string): readonly ts.Symbol[] => {
  const source = program.getSourceFile(root + file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) =>
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
    );
};

/** The methods of an exported class or interface. */
const methodsOf = (symbol: ts.Symbol): readonly ts.Symbol[] =>
  [...(symbol.members?.values() ?? [])].filter(
    ({ flags, name }) => (flags & ts.SymbolFlags.Method) !== 0 && !/^(__|#)/.test(name),
  );

const silentOf = (symbols: readonly ts.Symbol[]): string[] =>
  symbols.filter((symbol) => isOwn(symbol) && docsOf(symbol) === "").map(({ name }) => name);

test.each(Object.entries(entry))("every export of %s has a description", (_name, file) => {
  expect(silentOf(exportsOf(file))).toEqual([]);
});

test.each(Object.entries(entry))("every method of the exports of %s has a description", (_name, file) => {
  expect(silentOf(exportsOf(file).flatMap(methodsOf))).toEqual([]);
});

const hasExample = (symbol: ts.Symbol): boolean =>
  symbol.getJsDocTags(checker).some(({ name }) => name === "example" || name === "internal");

// An interface that users implement shows one example for all of its methods.
const withoutExample = (symbol: ts.Symbol): string[] => {
  const { valueDeclaration } = symbol;
  const isFunction =
    valueDeclaration !== undefined &&
    checker.getTypeOfSymbolAtLocation(symbol, valueDeclaration).getCallSignatures().length > 0;
  const callables = isFunction ? [symbol] : methodsOf(symbol);
  const isInterface = (symbol.flags & ts.SymbolFlags.Interface) !== 0;
  return hasExample(symbol) && (isFunction || isInterface)
    ? []
    : callables
        .filter((callable) => isOwn(callable) && !hasExample(callable))
        .map(({ name }) => `${symbol.name}.${name}`);
};

test.each(Object.entries(entry))("every function and method of %s has an example", (_name, file) => {
  expect(exportsOf(file).flatMap(withoutExample)).toEqual([]);
});

test("every example compiles", () => {
  const faults = [...examples.keys()].flatMap((path) => {
    const source = program.getSourceFile(root + path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
  expect(faults).toEqual([]);
  expect(examples.size).toBeGreaterThan(50);
});

test("every example is a block of TypeScript", () => {
  const tags = sources.map(
    (path) => readFileSync(root + path, "utf8").match(/^ *\* @example/gm)?.length ?? 0,
  );
  expect(tags.reduce((sum, count) => sum + count, 0)).toBe(examples.size);
});
