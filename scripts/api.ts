// Writes docs/api.md, or compares it with that of the last release.
//   npx tsx scripts/api.ts
//   npm run api:changes                        against the latest tag v*
//   npm run api:changes -- --against old.md    against a file
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import ts from "typescript";
import manifest from "../package.json" with { type: "json" };
import { entry } from "../tsup.config.ts";

/** The root of the repository. */
export const root = new URL("../", import.meta.url).pathname;

// All language services of this process share the registry, so each file is read, parsed and bound only once.
const registry = ts.createDocumentRegistry();

const projectOptions = ((): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
})();

/** The files and options of a language service. */
export interface ServiceInput {
  /** Files of this repository, by their paths in this repository. */
  readonly files?: readonly string[];
  /** The texts of files that are not on disk, by their paths in this repository. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Compiler options that replace those of this project. */
  readonly options?: ts.CompilerOptions;
}

/** Opens files as an editor does. */
export const languageService = ({
  files = [],
  texts = new Map(),
  options,
}: ServiceInput): ts.LanguageService => {
  const settings = { ...projectOptions, ...options };
  const textOf = (path: string): string | undefined =>
    path.startsWith(root) ? texts.get(path.slice(root.length)) : undefined;
  return ts.createLanguageService(
    {
      getCompilationSettings: () => settings,
      getScriptFileNames: () => [...files, ...texts.keys()].map((path) => root + path),
      getScriptVersion: (path) => textOf(path) ?? "as on disk",
      getScriptSnapshot: (path) => {
        const text = textOf(path) ?? ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (path) => textOf(path) !== undefined || ts.sys.fileExists(path),
      readFile: (path) => textOf(path) ?? ts.sys.readFile(path),
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    },
    registry,
  );
};

/** Opens files and returns their program, for code that uses the compiler directly. */
export const programOf = (input: ServiceInput): ts.Program => {
  const program = languageService(input).getProgram();
  if (program === undefined) throw new Error("the language service has no program");
  return program;
};

/** The file of the report. */
export const apiFile = new URL("../docs/api.md", import.meta.url);

const printer = ts.createPrinter({ removeComments: true });

/** The declarations of a source file as users get them: without bodies, private members and internal parts. */
const declarationsOf = (program: ts.Program) => {
  const emitted = new Map<string, ts.SourceFile>();
  return (source: ts.SourceFile): ts.SourceFile => {
    const cached = emitted.get(source.fileName);
    if (cached !== undefined) return cached;
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

/** Prints one exported symbol: a type that is inferred from a schema in full, and a schema only by its name. */
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
  return `# Exported names and signatures\n\n\`npm run generate\` writes this file. A change here is a change for users.\n\n${parts.join("\n")}`;
};

/** How the exported names differ between two reports. */
export interface ApiChanges {
  /** Changes after which a program may no longer compile: removed names, and signatures that lost a line. */
  readonly breaking: readonly string[];
  readonly added: readonly string[];
}

/** The lines of each signature, by its entry, kind and name. */
const signaturesIn = (report: string): Map<string, readonly string[]> => {
  const signatures = new Map<string, readonly string[]>();
  for (const section of report.split(/^## /m).slice(1)) {
    const [entry = "", body = ""] = section.split(/\n\n```ts\n/);
    for (const signature of body.replace(/\n```[\s\S]*$/, "").split("\n\n")) {
      const name = /^(?:abstract )?(class|interface|type|const|function) (\w+)/.exec(signature)?.[0];
      if (name !== undefined) signatures.set(`${entry} ${name}`, signature.split("\n"));
    }
  }
  return signatures;
};

/** Compares two reports that `npm run generate` wrote. */
export const apiChanges = (before: string, after: string): ApiChanges => {
  const old = signaturesIn(before);
  const now = signaturesIn(after);
  if (old.size === 0 || now.size === 0)
    throw new Error("no signatures: is this a report of npm run generate?");
  const breaking = [...old].flatMap(([name, lines]) => {
    const newLines = now.get(name);
    if (newLines === undefined) return [`${name}: was removed`];
    return lines.filter((line) => !newLines.includes(line)).map((line) => `${name}: lost ${line.trim()}`);
  });
  const added = [...now].flatMap(([name, lines]) => {
    const oldLines = old.get(name);
    if (oldLines === undefined) return [name];
    return lines.filter((line) => !oldLines.includes(line)).map((line) => `${name}: ${line.trim()}`);
  });
  return { breaking, added };
};

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: "pipe" });

/** The tag of the last release, if there was one. */
export const lastRelease = (before = "HEAD"): string | undefined => {
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v*", before).trim();
  } catch {
    return undefined;
  }
};

/** The text of a file in a release. */
export const fileOf = (tag: string, path: string): string => git("show", `${tag}:${path}`);

const printChanges = (against: string | undefined): void => {
  const tag = lastRelease();
  if (against === undefined && tag === undefined)
    console.log("no release to compare with: there is no tag v*");
  else {
    const before = against === undefined ? fileOf(tag ?? "", "docs/api.md") : readFileSync(against, "utf8");
    const { breaking, added } = apiChanges(before, readFileSync("docs/api.md", "utf8"));
    console.log(
      `compared with ${against ?? tag}: ${breaking.length} lines removed, ${added.length} lines added`,
    );
    for (const line of breaking) console.log(`- ${line}`);
    for (const line of added) console.log(`+ ${line}`);
  }
};

if (process.argv[1] === import.meta.filename) {
  const options = { changes: { type: "boolean" }, against: { type: "string" } } as const;
  const { changes, against } = parseArgs({ options }).values;
  if (changes) printChanges(against);
  else writeFileSync(apiFile, apiReport());
}
