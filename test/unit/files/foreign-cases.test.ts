// Cases of others: csv-spectrum, files with their records as JSON; and the parser's cases that PapaParse ships with its
// package, whose inputs csv-parse reads too.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { runInNewContext } from "node:vm";
import { parse } from "csv-parse/sync";
import { readCsv } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { readRows } from "../../../src/files/csv-rows.ts";
import { gather, inPieces } from "./scratch.ts";

const require = createRequire(import.meta.url);

describe("csv-spectrum", () => {
  const folder = dirname(require.resolve("csv-spectrum"));
  const names = readdirSync(join(folder, "csvs")).map((name) => name.replace(".csv", ""));

  test("has 12 files", () => expect(names).toHaveLength(12));

  test.each(names)("%s", async (name) => {
    const bytes = readFileSync(join(folder, "csvs", `${name}.csv`));
    // A file of one record has the record itself in place of a list.
    const given = [JSON.parse(readFileSync(join(folder, "json", `${name}.json`), "utf8"))].flat();
    // Its JSON has another phone number than its CSV.
    const phone = { "Contact Phone Number": "2095257564" };
    const records =
      name === "location_coordinates" ? given.map((record) => ({ ...record, ...phone })) : given;
    for (const size of [1, 7, bytes.length])
      expect(await gather(readCsv(inPieces(bytes, size), { emptyCells: "string" }))).toEqual(records);
  });
});

/** A case of PapaParse: rows of cells, or records with `header`. */
interface PapaCase {
  readonly description: string;
  readonly input: string;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly expected: {
    readonly data: readonly (readonly string[] | Readonly<Record<string, string>>)[];
    readonly errors?: readonly { readonly code: string }[];
  };
}

/** The cases are variables of a script for mocha, which wants an assertion library and the constants of PapaParse. */
const papaCases = (): readonly PapaCase[] => {
  const constants = { RECORD_SEP: "\x1E", UNIT_SEP: "\x1F", BAD_DELIMITERS: ["\r", "\n", '"', "\uFEFF"] };
  const script = readFileSync(require.resolve("papaparse/tests/test-cases.js"), "utf8");
  const cases: unknown = runInNewContext(`${script}\n;[...CORE_PARSER_TESTS, ...PARSE_TESTS]`, {
    module: { exports: {} },
    require: (name: string) => (name === "chai" ? {} : constants),
    describe: Object.assign(() => undefined, { skip: () => () => undefined }),
  });
  // The script has no types; the counts below notice another shape.
  return cases as readonly PapaCase[];
};

/** The options of PapaParse that exist here too, or that need none here. */
const sharedOptions = ["header", "delimiter", "newline", "skipEmptyLines", "skipFirstNLines", "fastMode"];

/** Comments, previews, other quotes and escapes, types by guess, functions, and delimiters of several characters. */
const needsOtherOptions = ({ config = {} }: PapaCase): boolean => {
  const { delimiter = ",", skipFirstNLines = 0 } = config;
  return (
    Object.keys(config).some((name) => !sharedOptions.includes(name)) ||
    !/^[^\n]$/.test(String(delimiter)) ||
    Number(skipFirstNLines) < 0
  );
};

/** What is another way here, for each case the reason. */
const otherWays: Readonly<Record<string, string>> = {
  "Mixed slash n and slash r should choose first as precident": "every kind of line end ends a line",
  "Pipe delimiter is guessed correctly when mixed with comas": "a pipe is given by the option delimiter",
  "Parsing with skipEmptyLines set to 'greedy'": "a quoted cell is a cell, also if it is empty",
  "Simple duplicated header names": "two columns of one name are refused",
  "Duplicated header names existing column": "two columns of one name are refused",
  "Duplicate header names with __proto__ field": "two columns of one name are refused",
};

const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === "");

/** The cells of each row; for a row that is refused, why. */
const rowsIn = async (input: string, config: PapaCase["config"] = {}, size = 1_000) => {
  const { delimiter, skipFirstNLines = 0 } = config;
  const options = {
    name: "input",
    maxLineBytes: 1_000_000,
    delimiter: delimiter === undefined ? undefined : String(delimiter),
    skipLines: Number(skipFirstNLines),
  };
  async function* chunks() {
    for await (const piece of inPieces(Buffer.from(input), size)) yield Buffer.from(piece);
  }
  const rows = (await gather(readRows(chunks(), options))).flat();
  return rows.map(({ cells, problem }) => problem ?? cells);
};

const isFault = ({ code }: { readonly code: string }): boolean => /Quotes|TooMany/.test(code);

describe("PapaParse", () => {
  const all = papaCases();
  const shared = all.filter((each) => !needsOtherOptions(each));
  const cases = shared.filter(({ description }) => otherWays[description] === undefined);
  const isRecords = ({ config }: PapaCase): boolean => config?.header === true;
  const rowCases = cases.filter((each) => !isRecords(each));
  const recordCases = cases.filter(isRecords);
  const titled = (of: readonly PapaCase[]) => of.map((each) => [each.description, each] as const);

  test("has the cases that are known here", () => {
    expect([all.length, all.length - shared.length, shared.length - cases.length]).toEqual([161, 52, 6]);
    const known = new Set(all.map(({ description }) => description));
    expect(Object.keys(otherWays).filter((description) => !known.has(description))).toEqual([]);
  });

  test.each(titled(rowCases))("%s", async (_, { input, config, expected }) => {
    // PapaParse gives a line without text as a row of one cell.
    const data = expected.data.map((row) => Object.values(row)).filter((row) => !isBlank(row));
    for (const size of [1, 1_000]) {
      const rows = await rowsIn(input, config, size);
      if (expected.errors?.some(isFault)) expect(rows.some((row) => typeof row === "string")).toBe(true);
      else expect(rows).toEqual(data);
    }
  });

  test.each(titled(recordCases))("%s, as records", async (_, { input, config = {}, expected }) => {
    const skipLines = Number(config.skipFirstNLines ?? 0);
    const reading = gather(readCsv(inPieces(input, 5), { emptyCells: "string", skipLines }));
    if (expected.errors?.some(isFault)) return expect(reading).rejects.toThrow("but the header has");
    const [{ length = 0 } = {}] = (await rowsIn(input, config)) as readonly (readonly string[])[];
    // A cell that is missing at the end of a row is empty here, and no field there.
    const data = expected.data.map((row) => Object.values(row));
    const padded = data.map((row) => [...row, ...Array<string>(length).fill("")].slice(0, length));
    expect((await reading).map((record) => Object.values(record))).toEqual(padded);
  });

  test("csv-parse finds the same rows wherever it finds no fault", async () => {
    let compared = 0;
    for (const { input, config } of cases) {
      if (config?.skipFirstNLines !== undefined) continue;
      let rows: readonly string[][];
      try {
        const delimiter = String(config?.delimiter ?? ",");
        const record_delimiter = ["\r\n", "\n", "\r"];
        rows = parse(input, {
          bom: true,
          relax_column_count: true,
          skip_empty_lines: true,
          delimiter,
          record_delimiter,
        });
      } catch {
        continue;
      }
      compared += 1;
      expect(await rowsIn(input, config)).toEqual(rows.filter((row) => !isBlank(row)));
    }
    expect(compared).toBe(82);
  });
});
