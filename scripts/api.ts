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

// Shared by every service of a process: a file is read, parsed and bound once.
const registry = ts.createDocumentRegistry();

const projectOptions = ((): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(config, ts.sys, root).options;
})();

/** What a language service opens. */
export interface Opened {
  /** Files of this repository, by their paths in it. */
  readonly files?: readonly string[];
  /** Files that are not there, by their paths in it, with their text. */
  readonly texts?: ReadonlyMap<string, string>;
  /** Replace those of this project. */
  readonly options?: ts.CompilerOptions;
}

/** Opens files as an editor does. */
export const languageService = ({ files = [], texts = new Map(), options }: Opened): ts.LanguageService => {
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

/** The program of a service, for what asks the compiler itself. */
export const programOf = (opened: Opened): ts.Program => {
  const program = languageService(opened).getProgram();
  if (program === undefined) throw new Error("the language service has no program");
  return program;
};

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

/** What a release does to the exported names. */
export interface ApiChanges {
  /** What a user's program may stop compiling for: names that are gone, and signatures that lost a line. */
  readonly breaking: readonly string[];
  readonly added: readonly string[];
}

/** The lines of each signature, by its entry, kind and name. */
const signaturesIn = (report: string): Map<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>();
  for (const section of report.split(/^## /m).slice(1)) {
    const [entry = "", body = ""] = section.split(/\n\n```ts\n/);
    for (const signature of body.replace(/\n```[\s\S]*$/, "").split("\n\n")) {
      const name = /^(?:abstract )?(class|interface|type|const|function) (\w+)/.exec(signature)?.[0];
      if (name !== undefined) found.set(`${entry} ${name}`, signature.split("\n"));
    }
  }
  return found;
};

/** Compares two reports that `npm run generate` wrote. */
export const apiChanges = (before: string, after: string): ApiChanges => {
  const old = signaturesIn(before);
  const now = signaturesIn(after);
  if (old.size === 0 || now.size === 0)
    throw new Error("no signatures: is this a report of npm run generate?");
  const breaking = [...old].flatMap(([name, lines]) => {
    const kept = now.get(name);
    if (kept === undefined) return [`${name}: is gone`];
    return lines.filter((line) => !kept.includes(line)).map((line) => `${name}: lost ${line.trim()}`);
  });
  const added = [...now].flatMap(([name, lines]) => {
    const known = old.get(name);
    if (known === undefined) return [name];
    return lines.filter((line) => !known.includes(line)).map((line) => `${name}: ${line.trim()}`);
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

/** A file as a release had it. */
export const fileOf = (tag: string, path: string): string => git("show", `${tag}:${path}`);

const printChanges = (against: string | undefined): void => {
  const tag = lastRelease();
  if (against === undefined && tag === undefined)
    console.log("no release to compare with: there is no tag v*");
  else {
    const before = against === undefined ? fileOf(tag ?? "", "docs/api.md") : readFileSync(against, "utf8");
    const { breaking, added } = apiChanges(before, readFileSync("docs/api.md", "utf8"));
    console.log(`against ${against ?? tag}: ${breaking.length} lines lost, ${added.length} added`);
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
