import type { Mutant } from "./mutants.ts";
import type { Verdict } from "./mutation-verdicts.ts";
import { type Explained, explained } from "./mutations-explained.ts";

/** A mutant and what became of it. */
export interface Planted {
  readonly mutant: Mutant;
  /** None as long as the tests have not been asked. */
  readonly verdict: Verdict | undefined;
}

/** Whether this is the mutant that the words are about. */
export const isAbout = ({ file, text, changes }: Explained, mutant: Mutant): boolean =>
  mutant.file === file && mutant.text === text && changes.includes(mutant.change);

const why = (mutant: Mutant): string | undefined => explained.find((each) => isAbout(each, mutant))?.why;

const cell = (text: string): string => `\`${text.replaceAll("|", "\\|").replaceAll("`", "'")}\``;

const columns: readonly (readonly [name: string, counts: (planted: Planted) => boolean])[] = [
  ["Planted", () => true],
  ["Failed a test", ({ verdict }) => verdict === "failed a test"],
  ["Refused by the compiler", ({ verdict }) => verdict === "refused by the compiler"],
  ["Survived, explained", ({ verdict, mutant }) => verdict === "survived" && why(mutant) !== undefined],
  ["Not asked yet", ({ verdict }) => verdict === undefined],
  ["Survived, open", ({ verdict, mutant }) => verdict === "survived" && why(mutant) === undefined],
];

const row = (name: string, own: readonly Planted[]): string =>
  `| ${[name, ...columns.map(([, counts]) => own.filter(counts).length)].join(" | ")} |`;

/** The page that a whole run writes. */
export const mutationsDocument = (planted: readonly Planted[]): string => {
  const files = [...new Set(planted.map(({ mutant }) => mutant.file))];
  const survived = planted.filter(({ verdict }) => verdict === "survived").map(({ mutant }) => mutant);
  const isThere = (each: Explained): boolean => survived.some((mutant) => isAbout(each, mutant));
  const open = survived.filter((mutant) => why(mutant) === undefined);
  return `# Planted faults

Written by \`npm run mutations\`; do not edit. It turns one comparison round, leaves out one statement, shifts one number and
so on, each by itself, and asks the unit tests nearest to the file, five test files at most. A fault that none of them finds
is a survivor: either a test is missing, or the other code does the same. Where it is explained, the reason stands below and
in \`scripts/mutations-explained.ts\`; a test sees to it that what is explained there still stands in the code.

| File | ${columns.map(([name]) => name).join(" | ")} |
|---|${columns.map(() => "---:").join("|")}|
${files
  .map((file) =>
    row(
      file,
      planted.filter(({ mutant }) => mutant.file === file),
    ),
  )
  .join("\n")}
${row("All", planted)}

## Survivors, explained

| File | Line | Changed | Why no test can tell, or need |
|---|---|---|---|
${explained
  .filter(isThere)
  .map(
    ({ file, text, changes, why }) =>
      `| ${file} | ${cell(text)} | ${changes.map(cell).join("<br>")} | ${why} |`,
  )
  .join("\n")}
${open.length === 0 ? "" : `\n## Survivors, open\n\n${open.map(({ file, line, change }) => `- ${file}:${line} ${cell(change)}`).join("\n")}\n`}`;
};
