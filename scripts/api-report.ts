import { writeFileSync } from "node:fs";
import ts from "typescript";
import manifest from "../package.json" with { type: "json" };
import { entry } from "./entries.ts";
import { programOf, root } from "./language-service.ts";

/** Where the report lies. */
export const apiFile = new URL("../docs/api.md", import.meta.url);

const printer = ts.createPrinter({ removeComments: true });

/** The declarations of a source file as its users get them: without bodies, privates and what is internal. */
const declarationsOf = (program: ts.Program) => {
  const emitted = new Map<string, ts.SourceFile>();
  return (source: ts.SourceFile): ts.SourceFile => {
    const known = emitted.get(source.fileName);
    if (known !== undefined) return known;
    let text = "";
    program.emit(
      source,
      (_, written) => {
        text = written;
      },
      undefined,
      true,
    );
    const parsed = ts.createSourceFile("declarations.d.ts", text, ts.ScriptTarget.Latest, true);
    emitted.set(source.fileName, parsed);
    return parsed;
  };
};

const namesIn = (statement: ts.Statement): string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as { readonly name?: ts.Node };
  return name === undefined ? [] : [name.getText()];
};

const isSchemaType = (text: string): boolean => /\bz\.(infer|input|output)\b/.test(text);
const isSchema = (text: string): boolean =>
  /^(export )?(declare )?const \w+: (z\.|(import\([^)]*\)\.)?Schema\b)/.test(text);

/** Prints one exported symbol; what is inferred of a schema is spelled out, and the schema named only. */
const signatureOf = (
  symbol: ts.Symbol,
  name: string,
  {
    checker,
    declared,
  }: { readonly checker: ts.TypeChecker; readonly declared: ReturnType<typeof declarationsOf> },
): string[] => {
  const [first] = symbol.declarations ?? [];
  if (first === undefined) return [];
  const source = declared(first.getSourceFile());
  return source.statements
    .filter((statement) => namesIn(statement).includes(symbol.name))
    .map((statement) => {
      const text = printer
        .printNode(ts.EmitHint.Unspecified, statement, source)
        .replace(/^ *#private;\n/m, "");
      if (isSchema(text)) return `const ${name}: Schema<${name}>;`;
      if (!ts.isTypeAliasDeclaration(statement) || !isSchemaType(text))
        return text.replace(/^export (declare )?/, "");
      const flags =
        ts.NodeBuilderFlags.InTypeAlias |
        ts.NodeBuilderFlags.NoTruncation |
        ts.NodeBuilderFlags.MultilineObjectLiterals;
      const node = checker.typeToTypeNode(checker.getDeclaredTypeOfSymbol(symbol), undefined, flags);
      return node === undefined
        ? text
        : `type ${name} = ${printer.printNode(ts.EmitHint.Unspecified, node, source)};`;
    });
};

const byName = (a: ts.Symbol, b: ts.Symbol): number => (a.name < b.name ? -1 : 1);

/** Every exported name of every entry with its signature, as Markdown. */
export const apiReport = (): string => {
  const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, removeComments: false };
  const program = programOf({ files: Object.values(entry), options });
  const checker = program.getTypeChecker();
  const declared = declarationsOf(program);
  const parts = Object.entries(entry).map(([name, file]) => {
    const source = program.getSourceFile(root + file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} exports nothing`);
    const signatures = [...checker.getExportsOfModule(module)].sort(byName).flatMap((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      return signatureOf(symbol, exported.name, { checker, declared });
    });
    const path = name === "index" ? manifest.name : `${manifest.name}/${name}`;
    return `## ${path}\n\n\`\`\`ts\n${signatures.join("\n\n")}\n\`\`\`\n`;
  });
  return `# Exported names and signatures\n\nWritten by \`npm run api\`; a change here is a change for users.\n\n${parts.join("\n")}`;
};

if (process.argv[1] === import.meta.filename) writeFileSync(apiFile, apiReport());
