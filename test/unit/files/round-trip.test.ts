import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { readCsv, readNdjson, writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { joinPath, splitPath } from "../../../src/files/dotted-path.ts";
import { parsedJson } from "../../../src/runtime/values.ts";
import { randomCases } from "../../support/random-cases.ts";
import { gather, inPieces, scratch } from "./scratch.ts";

// Unpaired surrogates have no UTF-8 form, so texts are made of whole characters; those CSV cares for come often.
const special = fc.constantFrom(
  '"',
  ",",
  ";",
  "\n",
  "\r",
  "\r\n",
  "'",
  "=",
  "+",
  "-",
  "@",
  "\t",
  " ",
  "\uFEFF",
  ".",
);
const text = fc.string({
  unit: fc.oneof(special, fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 })),
});
const filled = text.filter((value) => value !== "");
const key = fc.string({
  unit: fc.constantFrom("a", "b", ".", "\\", "=", "é", '"'),
  minLength: 1,
  maxLength: 4,
});

describe("what is written is read again", () => {
  test("NDJSON of all sorts of JSON objects, cut into chunks anywhere", async () => {
    const { path, text: content } = scratch();
    const isSafe = (value: unknown) =>
      !JSON.stringify(value, (_, item) =>
        Number.isInteger(item) && !Number.isSafeInteger(item) ? "unsafe" : item,
      ).includes("unsafe");
    // A whole number above 2^53 is a bad line of its own.
    const json = fc.dictionary(text, fc.jsonValue({ noUnicodeString: false })).filter(isSafe);
    await fc.assert(
      fc.asyncProperty(fc.array(json), fc.integer({ min: 1, max: 20 }), async (records, size) => {
        await writeNdjson(path("out"), records);
        const expected: unknown = JSON.parse(JSON.stringify(records));
        expect(await gather(readNdjson(inPieces(Buffer.from(content("out")), size)))).toEqual(expected);
      }),
      { numRuns: randomCases(100) },
    );
  });

  test("CSV texts come back unchanged with any delimiter, any chunks, and formulas escaped or not", async () => {
    const { path, text: content } = scratch();
    // A text that is JSON is written as a JSON text, for readContacts; readCsv does not decode it.
    const plain = filled.filter((value) => !/^[["{]/.test(value) || parsedJson(value) === undefined);
    const record = fc.record({ email: filled, customFields: fc.record({ plan: plain, "a.b": plain }) });
    const settings = fc.record({
      delimiter: fc.constantFrom(",", ";", "\t", "|", "="),
      isGuarded: fc.boolean(),
      byteOrderMark: fc.boolean(),
      size: fc.integer({ min: 1, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(record),
        settings,
        async (records, { delimiter, isGuarded, size, ...rest }) => {
          await writeCsv(path("out"), records, { delimiter, escapeFormulas: isGuarded, ...rest });
          const source = inPieces(Buffer.from(content("out")), size);
          const found = await gather(readCsv(source, { delimiter, unescapeFormulas: isGuarded }));
          expect(found).toEqual(records);
        },
      ),
      { numRuns: randomCases(100) },
    );
  });

  test("CSV: one column, whose empty cells are records too", async () => {
    const { path } = scratch();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ a: text })), async (records) => {
        await writeCsv(path("out"), records);
        expect(await gather(readCsv(path("out"), { emptyCells: "string" }))).toEqual(records);
      }),
      { numRuns: randomCases(100) },
    );
  });

  test("any text has the rows that csv-parse finds in it, cut into chunks anywhere", async () => {
    const names = ["a", "b", "c"];
    const char = fc.constantFrom('"', '"', ",", ",", "\n", "\r", "\r\n", "x", "é", " ");
    // Quoted cells, so that most texts are well formed.
    const cell = fc.oneof(
      fc.string({ unit: char, maxLength: 4 }).map((value) => `"${value.replaceAll('"', '""')}"`),
      fc.string({ unit: fc.constantFrom("x", "é", " "), maxLength: 2 }),
      fc.string({ unit: char, maxLength: 3 }),
    );
    const line = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(","));
    const file = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n")))
      .map((lines) => `a,b,c\n${lines.flat().join("")}`);
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 20 }), async (content, size) => {
        let rows: { readonly record: string[]; readonly raw: string }[];
        try {
          rows = parse(content, {
            ...{ raw: true, relax_column_count: true, skip_empty_lines: true, from: 2 },
            record_delimiter: ["\r\n", "\n", "\r"],
            // With `raw` these are pairs, which the types do not say.
          }) as unknown as typeof rows;
        } catch {
          // A quote in a cell that does not begin with one, and blanks after a closing quote, are no faults here.
          if (/[^",\r\n]"|" /.test(content)) return;
          const reading = gather(readCsv(inPieces(Buffer.from(content), size), { delimiter: "," }));
          await expect(reading).rejects.toThrow("input line");
          return;
        }
        valid += 1;
        const invalid: string[] = [];
        const options = {
          delimiter: ",",
          emptyCells: "string",
          unescapeFormulas: false,
          onInvalid: ({ error }: { readonly error: Error }) => void invalid.push(error.message),
        } as const;
        const found = await gather(readCsv(inPieces(Buffer.from(content), size), options));
        const cells = rows.flatMap(({ record, raw }) => (/^[\s,]*$/.test(raw) ? [] : [record]));
        const fitting = cells.filter((row) => row.slice(names.length).every((cell) => cell.trim() === ""));
        expect(found).toEqual(
          fitting.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""]))),
        );
        expect(invalid).toHaveLength(cells.length - fitting.length);
      }),
      { numRuns: 300 },
    );
    expect(valid).toBeGreaterThan(50);
  });

  test("keys in a dotted path", () => {
    const keys = fc.array(key, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(keys, (path) => {
        expect(splitPath(joinPath(path))).toEqual(path);
      }),
    );
  });
});
