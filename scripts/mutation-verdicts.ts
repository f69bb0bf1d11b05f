import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Mutant } from "./mutants.ts";

/** What became of a mutant. */
export type Verdict = "failed a test" | "refused by the compiler" | "survived";

/** The verdicts of runs before, as long as the file they are about is the same. */
export interface Verdicts {
  of(mutant: Mutant, source: string): Verdict | undefined;
  keep(mutant: Mutant, source: string, verdict: Verdict): void;
}

const keyOf = ({ file, line, change }: Mutant, source: string): string =>
  createHash("sha256").update([file, line, change, source].join("\0")).digest("base64url");

/** Keeps one verdict a line in a file, so that a run that is cut off goes on where it was. */
export const openVerdicts = (path: string): Verdicts => {
  mkdirSync(dirname(path), { recursive: true });
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  // As `keep` writes them.
  const known = new Map(lines.map((line) => JSON.parse(line) as [string, Verdict]));
  return {
    of: (mutant, source) => known.get(keyOf(mutant, source)),
    keep: (mutant, source, verdict) => {
      const key = keyOf(mutant, source);
      known.set(key, verdict);
      appendFileSync(path, `${JSON.stringify([key, verdict])}\n`);
    },
  };
};
