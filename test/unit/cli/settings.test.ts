import { describe, expect, test } from "vitest";
import type { OptionValues } from "../../../src/cli/args.ts";
import { countOf, listOf, UsageError } from "../../../src/cli/command.ts";
import { exportSettings } from "../../../src/cli/contacts-export.ts";
import { formatOf } from "../../../src/cli/record-file.ts";
import { describeReport } from "../../../src/cli/run-resumable.ts";

const given = (values: OptionValues) => ({ values });

describe("exportSettings", () => {
  test("reads all options", () => {
    const options = { out: "a.csv", search: "ann", columns: "email, name,", checkpoint: "a.json" };
    expect(exportSettings(given(options))).toEqual({
      out: "a.csv",
      format: "csv",
      search: "ann",
      columns: ["email", "name"],
      checkpoint: "a.json",
    });
  });

  test.each([
    [{}, "--out <path> is missing"],
    [
      { out: "a.xlsx" },
      "a.xlsx: the file name must end in .csv, .tsv, .txt or .ndjson, optionally followed by .gz",
    ],
    [
      { out: "a.json" },
      "a.json: the file name must end in .csv, .tsv, .txt or .ndjson, optionally followed by .gz",
    ],
    [{ out: "a.csv", columns: "," }, "--columns must name at least one column"],
    [{ out: "a.ndjson", columns: "email" }, "--columns works only with CSV"],
    [{ out: "a.csv", columns: "email,name,email" }, "--columns: email appears twice"],
    [
      { out: "a.csv.gz", checkpoint: "a.json" },
      "--checkpoint does not work with a compressed file: export to a plain file and compress it afterwards",
    ],
    [
      { out: "a.csv", checkpoint: "./a.csv" },
      "--checkpoint and --out must be different files, but both are ./a.csv",
    ],
  ])("refuses %j", (options, message) => {
    expect(() => exportSettings(given(options))).toThrow(new UsageError(message));
  });
});

test.each([
  ["a.csv", "csv"],
  ["b.NDJSON", "ndjson"],
  ["c.jsonl.gz", "ndjson"],
])("%s tells its format", (name, format) => {
  expect(formatOf(name, given({}))).toBe(format);
});

describe("countOf", () => {
  const range = { least: 1, most: 20 };

  test("reads a whole number, or that none is given", () => {
    expect([countOf(given({ n: "20" }), "n", range), countOf(given({}), "n", range)]).toEqual([
      20,
      undefined,
    ]);
  });

  test.each(["0", "21", "1.5", "-3", "1e1", "", "ten"])("refuses %j", (n) => {
    const message = `--n must be a whole number from 1 to 20, got "${n}"`;
    expect(() => countOf(given({ n }), "n", range)).toThrow(new UsageError(message));
  });
});

test("listOf leaves out blanks and empty items", () => {
  expect(listOf(given({ a: " x , ,y" }), "a")).toEqual(["x", "y"]);
});

test("a report is names and values under each other, the time last", () => {
  expect(describeReport({ elapsedMs: 12_345, read: 2_000, tooOld: 1, file: "a.csv" })).toBe(
    "read     2,000\ntoo old  1\nfile     a.csv\ntook     12.3 s\n",
  );
});
