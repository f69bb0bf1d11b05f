import ts from "typescript";
import { languageService, root } from "../../scripts/api.ts";

/** What an editor shows for a few lines of TypeScript. */
export interface Shown {
  /** The first line of each error, in order. */
  readonly errors: readonly string[];
  /** The hover at the mark. An expanded hover shows the definitions of its first names. */
  hover(
    mark: string,
    how?: { readonly isExpanded: boolean },
  ): { readonly text: string; readonly docs: string };
}

/** Editors pass an expansion level for a hover. TypeScript's declarations lack this parameter. */
type QuickInfo = (
  file: string,
  at: number,
  maximumLength: number,
  verbosity: number,
) => ts.QuickInfo | undefined;

const firstLine = ({ messageText }: ts.Diagnostic): string =>
  typeof messageText === "string" ? messageText : messageText.messageText;

/**
 * Opens programs that use the package. All of them are files of one project, so that TypeScript checks the sources only once.
 * `options` replace the compiler options of this repository, which enables all strict options.
 */
export const editor = (
  programs: readonly string[],
  options: ts.CompilerOptions = {},
): ((program: string) => Shown) => {
  const nameOf = (program: string): string => `test/shown-${programs.indexOf(program)}.ts`;
  const texts = new Map(programs.map((program) => [nameOf(program), program]));
  const service = languageService({ texts, options: { noUnusedLocals: false, ...options } });
  // See QuickInfo.
  const quickInfo = service.getQuickInfoAtPosition as QuickInfo;
  return (program) => {
    const file = `${root}${nameOf(program)}`;
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
