import ts from "typescript";

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
