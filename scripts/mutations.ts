// Plants faults one by one and asks the tests to find each: `npm run mutations -- [--survivors] [part of a path]…`.
// Nothing is written to `src/`. What was found before, in a file that has not changed since, is not asked again, but
// survivors are with `--survivors`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Mutant, mutate, onlyMutant } from "./mutants.ts";
import { openCompiler } from "./mutation-compiler.ts";
import { mutationsDocument, type Planted } from "./mutation-document.ts";
import { openMutationRuns } from "./mutation-runs.ts";
import { openVerdicts, type Verdict } from "./mutation-verdicts.ts";

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const inFolder = (folder: string, names?: readonly string[]): string[] =>
  (names ?? readdirSync(at(folder)).map((name) => name.replace(".ts", ""))).map(
    (name) => `${folder}/${name}.ts`,
  );

/** The files in which a fault would break a promise, and not only a function. */
export const mutatedFiles = (): readonly string[] => [
  ...inFolder("src/http", [
    ...["retry-policy", "retry-after", "retry", "window", "pacing", "lanes", "claims"],
    ...["budget", "permits", "low-water", "leases", "passing", "slots", "day-count"],
  ]),
  ...inFolder("src/ledger"),
  ...inFolder("src/ingest", ["low-water-mark", "checkpoint"]),
  ...inFolder("src/paging"),
  ...inFolder("src/ingest", ["ingestion", "resumable", "import"]),
  ...inFolder("src/batch"),
];

const asksAgain = process.argv.includes("--survivors");
const wanted = process.argv.slice(2).filter((word) => word !== "--survivors");
const isWanted = ({ file }: Mutant): boolean =>
  wanted.length === 0 || wanted.some((part) => file.includes(part));

const sources = new Map(mutatedFiles().map((file) => [file, readFileSync(at(file), "utf8")]));
const code = new Map<string, string>();
const mutants: Mutant[] = [];
for (const [file, source] of sources) {
  const mutated = mutate(file, source, mutants.length);
  code.set(file, mutated.code);
  mutants.push(...mutated.mutants);
}

const verdicts = openVerdicts(at("node_modules/.cache/touchpoint-mutations.ndjson"));
const sourceOf = ({ file }: Mutant): string => sources.get(file) ?? "";
const verdictOf = (mutant: Mutant): Verdict | undefined => verdicts.of(mutant, sourceOf(mutant));

const isOpen = (mutant: Mutant): boolean => {
  const verdict = verdictOf(mutant);
  return isWanted(mutant) && (verdict === undefined || (asksAgain && verdict === "survived"));
};

if (mutants.some(isOpen)) {
  const runs = await openMutationRuns(code);
  const isRefused = openCompiler();
  for (const [number, mutant] of mutants.entries()) {
    if (!isOpen(mutant)) continue;
    const killer = await runs.killerOf(number, mutant.file);
    const text = onlyMutant(mutant.file, sourceOf(mutant), mutant);
    const rest = (): Verdict => (isRefused(at(mutant.file), text) ? "refused by the compiler" : "survived");
    const verdict = killer === undefined ? rest() : "failed a test";
    verdicts.keep(mutant, sourceOf(mutant), verdict);
    if (verdict === "survived") console.log(`${mutant.file}:${mutant.line}  ${mutant.change}`);
  }
  await runs.close();
}

const planted = mutants.map((mutant): Planted => ({ mutant, verdict: verdictOf(mutant) }));
writeFileSync(at("docs/mutations.md"), mutationsDocument(planted));
