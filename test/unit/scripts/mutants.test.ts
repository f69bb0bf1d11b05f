import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mutate, onlyMutant } from "../../../scripts/mutants.ts";
import { isAbout } from "../../../scripts/mutation-document.ts";
import { explained } from "../../../scripts/mutations-explained.ts";

const source = `export const last = (items: readonly number[]): number | undefined => {
  if (!items.some(Boolean)) return;
  log("asked");
  return items[items.length - 1]?.valueOf();
};
`;

test("a file's mutants, each with its line", () => {
  const { mutants } = mutate("last.ts", source);
  expect(mutants.map(({ line, change }) => [line, change])).toEqual([
    [2, "!items.some(Boolean) → items.some(Boolean)"],
    [2, "items.some(Boolean) → items.every(Boolean)"],
    [2, "left out: return;"],
    [3, 'left out: log("asked");'],
    [4, "items[items.length - 1]?.valueOf() → items[items.length - 1].valueOf()"],
    [4, "items.length - 1 → items.length + 1"],
    [4, "1 → 0"],
  ]);
});

test("one code holds them all, and a number switches one on", () => {
  const { code } = mutate(
    "sum.ts",
    "const sum = (a, b) => a + b;\nresult = sum(2, 5) + (sum(1, 1) > 2 ? 10 : 0);\n",
  );
  const run = (on: number): number => {
    // The code of a test, made by the function under test.
    const program = new Function("__mutant", `let result; ${code}; return result;`);
    return Number(program((number: number) => number === on));
  };
  expect([run(-1), run(0)]).toEqual([7, -3]);
});

test("one mutant alone, for the compiler", () => {
  const mutant = mutate("last.ts", source).mutants.at(-1);
  expect(mutant && onlyMutant("last.ts", source, mutant)).toBe(
    source.replace("items.length - 1", "items.length - (0)"),
  );
});

test.each(explained.map((each) => [`${each.file}: ${each.text}`, each] as const))(
  "a survivor that is explained still stands in the code; if not, take it out of mutations-explained.ts: %s",
  (_name, each) => {
    const { mutants } = mutate(
      each.file,
      readFileSync(new URL(`../../../${each.file}`, import.meta.url), "utf8"),
    );
    const left = each.changes.filter(
      (change) => !mutants.some((mutant) => isAbout({ ...each, changes: [change] }, mutant)),
    );
    expect(left).toEqual([]);
  },
);
