import ts from "typescript";
import { expect, test } from "vitest";
import { entry } from "../../scripts/entries.ts";
import { programOf, root } from "../../scripts/language-service.ts";

const program = programOf({ files: Object.values(entry) });
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

test.each(Object.entries(entry))("every export of %s says what it is for", (_name, file) => {
  expect(silentOf(exportsOf(file))).toEqual([]);
});

test.each(Object.entries(entry))("every method of what %s exports says what it does", (_name, file) => {
  expect(silentOf(exportsOf(file).flatMap(methodsOf))).toEqual([]);
});
