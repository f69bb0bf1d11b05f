import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entry } from "../../tsup.config.ts";
import { strict } from "./support/consumer.ts";
import { root, run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const at = (file: string): string => join(root, "dist", file);

/** The names of a declaration file that the compiler accepts as values. */
const declaredValues = (file: string): readonly string[] => {
  const { NodeNext: module } = ts.ModuleKind;
  const { NodeNext: moduleResolution } = ts.ModuleResolutionKind;
  const program = ts.createProgram([file], { module, moduleResolution, types: ["node"], skipLibCheck: true });
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(file) ?? expect.unreachable());
  return checker
    .getExportsOfModule(symbol ?? expect.unreachable())
    .filter((name) => {
      const isAlias = (name.flags & ts.SymbolFlags.Alias) !== 0;
      const isTypeOnly = (name.declarations ?? []).some(ts.isTypeOnlyImportOrExportDeclaration);
      const { flags } = isAlias ? checker.getAliasedSymbol(name) : name;
      return !isTypeOnly && (flags & ts.SymbolFlags.Value) !== 0;
    })
    .map(({ name }) => name)
    .sort();
};

const requireHere = createRequire(import.meta.url);
const valuesOf = (loaded: object): readonly string[] =>
  Object.keys(loaded)
    .filter((name) => name !== "default")
    .sort();

test.each(Object.keys(entry))(
  "the declarations of %s export exactly the values of the module",
  async (name) => {
    const esm: object = await import(pathToFileURL(at(`${name}.js`)).href);
    expect(declaredValues(at(`${name}.d.ts`))).toEqual(valuesOf(esm));
    expect(declaredValues(at(`${name}.d.cts`))).toEqual(valuesOf(requireHere(at(`${name}.cjs`))));
  },
);

test.each(Object.keys(entry))("each class of %s has its own name, which logs show", async (name) => {
  const esm: object = await import(pathToFileURL(at(`${name}.js`)).href);
  for (const loaded of [esm, requireHere(at(`${name}.cjs`))])
    for (const [exported, value] of Object.entries(loaded))
      if (typeof value === "function" && /^class\b/.test(String(value))) expect(value.name).toBe(exported);
});

test("an import of a type without `type` does not compile if it would fail at run time", async () => {
  const names = ["List", "Recorder", "EventReceipt", "Contacts"];
  const text = `import { ${names.join(", ")} } from "touchpoint-sdk";\nexport type All = ${names.join(" | ")};\n`;
  await project.write("untyped.mts", text);
  const compilerOptions = { ...strict, module: "node16", types: ["node"], verbatimModuleSyntax: true };
  await project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["untyped.mts"] }));
  const { stdout } = await run(process.execPath, ["node_modules/typescript/bin/tsc"], project.folder);
  expect(names.filter((name) => stdout.includes(`'${name}'`))).toEqual(names);
});

test("no declaration contains a type of zod", () => {
  const files = readdirSync(at(".")).filter((file) => /\.d\.c?ts$/.test(file));
  expect(files.length).toBeGreaterThan(14);
  const named = files.filter((file) => /['"]zod[/'"]|\bZod[A-Z]/.test(readFileSync(at(file), "utf8")));
  expect(named).toEqual([]);
});
