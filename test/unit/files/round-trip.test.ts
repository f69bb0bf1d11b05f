import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { readCsv, readNdjson, writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { joinPath, splitPath } from "../../../src/files/dotted-path.ts";
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
    const json = fc.dictionary(text, fc.jsonValue({ noUnicodeString: false }));
    await fc.assert(
      fc.asyncProperty(fc.array(json), fc.integer({ min: 1, max: 20 }), async (records, size) => {
        await writeNdjson(path("out"), records);
        const expected: unknown = JSON.parse(JSON.stringify(records));
        expect(await gather(readNdjson(inPieces(Buffer.from(content("out")), size)))).toEqual(expected);
      }),
      { numRuns: randomCases(100) },
    );
  });

  test("CSV texts come back as they were, under every delimiter, guarded or not, cut into chunks anywhere", async () => {
    const { path, text: content } = scratch();
    const record = fc.record({ email: filled, nested: fc.record({ plan: filled, "a.b": filled }) });
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
      // A carriage return alone is refused outside quotes.
      fc.string({ unit: char, maxLength: 3 }).filter((value) => !/\r(?!\n)/.test(value)),
    );
    const line = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(","));
    const file = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n")))
      .map((lines) => `a,b,c\n${lines.flat().join("")}`);
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(file, fc.integer({ min: 1, max: 20 }), async (content, size) => {
        let expected: string[][];
        try {
          expected = parse(content, {
            relax_column_count: true,
            skip_empty_lines: true,
            record_delimiter: ["\r\n", "\n"],
            from: 2,
          });
        } catch {
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
        const whole = expected.filter((cells) => cells.length === names.length);
        expect(found).toEqual(whole.map((cells) => Object.fromEntries(cells.map((c, at) => [names[at], c]))));
        expect(invalid).toHaveLength(expected.length - whole.length);
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
