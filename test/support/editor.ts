import ts from "typescript";

const root = new URL("../../", import.meta.url).pathname;

/** What an editor shows of a few lines of TypeScript. */
export interface Shown {
  /** The first line of each error, in order. */
  readonly errors: readonly string[];
  /** The hover at the mark; expanded, the first names in it are written out. */
  hover(
    mark: string,
    how?: { readonly isExpanded: boolean },
  ): { readonly text: string; readonly docs: string };
}

/** The declarations of TypeScript leave out how far a hover is expanded, which editors do pass. */
type QuickInfo = (
  file: string,
  at: number,
  maximumLength: number,
  verbosity: number,
) => ts.QuickInfo | undefined;

const firstLine = ({ messageText }: ts.Diagnostic): string =>
  typeof messageText === "string" ? messageText : messageText.messageText;

const strict = (): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, root).options, noUnusedLocals: false };
};

/**
 * Opens programs that use the package, each as a file of one project: its sources are read and checked once.
 * `options` replace those of this project, where everything strict is on.
 */
export const editor = (
  programs: readonly string[],
  options: ts.CompilerOptions = {},
): ((program: string) => Shown) => {
  const nameOf = (program: string): string => `${root}test/shown-${programs.indexOf(program)}.ts`;
  const texts = new Map(programs.map((program) => [nameOf(program), program]));
  const settings = { ...strict(), ...options };
  const read = (name: string) => texts.get(name) ?? ts.sys.readFile(name);
  const service = ts.createLanguageService({
    getCompilationSettings: () => settings,
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: () => "0",
    getScriptSnapshot: (name) => {
      const text = read(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => texts.has(name) || ts.sys.fileExists(name),
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  // As above.
  const quickInfo = service.getQuickInfoAtPosition as QuickInfo;
  return (program) => {
    const file = nameOf(program);
    return {
      get errors() {
        return [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map(
          firstLine,
        );
      },
      hover: (mark, { isExpanded } = { isExpanded: false }) => {
        const info = quickInfo(file, program.indexOf(mark) + mark.length, 10_000, isExpanded ? 1 : 0);
        return {
          text: ts.displayPartsToString(info?.displayParts),
          docs: ts.displayPartsToString(info?.documentation),
        };
      },
    };
  };
};
