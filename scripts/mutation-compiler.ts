import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const configFile = fileURLToPath(new URL("../tsconfig.json", import.meta.url));

// What is left without a use is no fault of behaviour.
const unused = new Set([6133, 6138, 6196, 6198, 7028]);

/** Tells whether the compiler refuses a file of `src/` with other code in it. */
export const openCompiler = (): ((path: string, code: string) => boolean) => {
  const { config } = ts.readConfigFile(configFile, (path) => readFileSync(path, "utf8"));
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile));
  const versions = new Map<string, { readonly code: string; readonly version: number }>();
  const sources = fileNames.filter((name) => name.includes("/src/"));
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => sources,
    getScriptVersion: (name) => String(versions.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = versions.get(name)?.code ?? ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => dirname(configFile),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  });
  return (path, code) => {
    const version = (versions.get(path)?.version ?? 0) + 1;
    versions.set(path, { code, version });
    const found = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)];
    versions.set(path, { code: readFileSync(path, "utf8"), version: version + 1 });
    return found.some((each) => !unused.has(each.code));
  };
};
