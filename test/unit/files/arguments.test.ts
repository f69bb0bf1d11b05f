import { Readable } from "node:stream";
import { readContacts, readCsv, readNdjson, writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { ConfigurationError, ValidationError } from "../../../src/errors.ts";
import { gather, scratch } from "./scratch.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test("null and undefined mean no options", async () => {
  const { path, put } = scratch();
  const csv = put("in.csv", "a\n1\n");
  const ndjson = put("in.ndjson", '{"a":1}\n');
  for (const none of [null, undefined]) {
    expect(await gather(readCsv(csv, loose(none)))).toEqual([{ a: "1" }]);
    expect(await gather(readNdjson(ndjson, loose(none)))).toEqual([{ a: 1 }]);
    expect(await writeCsv(path("out.csv"), [{ a: 1 }], loose(none))).toEqual({ records: 1, bytes: 4 });
    expect(await writeNdjson(path("out.ndjson"), [{ a: 1 }], loose(none))).toEqual({ records: 1, bytes: 8 });
  }
});

describe("an option that cannot be", () => {
  const reading: [call: () => unknown, problem: string][] = [
    [() => readCsv("x.csv", loose({ delimeter: ";" })), 'readCsv: there is no option "delimeter"'],
    [() => readCsv("x.csv", loose({ columns: ["a"] })), "readCsv: columns must be { "],
    [
      () => readCsv("x.csv", loose({ columns: { a: 1, b: false, c: null } })),
      'readCsv: columns["a"] must be the name of a field, or false, got 1; columns["c"] must be the name of a field, or false, got null',
    ],
    [
      () => readContacts("x.csv", loose({ format: "csv", columns: { a: 1 } })),
      'readContacts: columns["a"] must be the name of a field, or false, got 1',
    ],
    [() => readCsv("x.csv", loose({ emptyCells: "nil" })), 'readCsv: emptyCells must be "omit" or "string"'],
    [
      () => readCsv("x.csv", loose({ cast: null, oninvalid: 1 })),
      'there is no option "oninvalid" (did you mean "onInvalid"?); cast must be',
    ],
    [() => readCsv("x.csv", loose({ delimiter: 5 })), "delimiter must be one character"],
    [
      () => readCsv("x.csv", loose({ encoding: Symbol("latin1") })),
      "encoding must be one that this runtime supports, for example windows-1252, got Symbol(latin1)",
    ],
    [
      () => readNdjson("x.ndjson", loose({ onInvalid: "skip" })),
      'readNdjson: onInvalid must be a function, got "skip"',
    ],
    [() => readNdjson("x.ndjson", loose({ onError: () => {} })), 'readNdjson: there is no option "onError"'],
    [() => readNdjson("x.ndjson", loose("utf8")), "readNdjson: the options must be an object"],
  ];
  test.each(reading)("of reading is refused at once: %#", (call, problem) => {
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(problem);
  });

  const writing: [options: unknown, problem: string][] = [
    [{ colums: ["a"] }, 'writeCsv: there is no option "colums"'],
    [{ columns: "a" }, 'writeCsv: columns must be ["email"] or { email: "E-mail" }, got "a"'],
    [{ columns: null }, 'writeCsv: columns must be ["email"] or { email: "E-mail" }, got null'],
    [{ columns: [] }, "writeCsv: columns must name at least one column"],
    [{ columns: ["a", "b", "a"] }, "writeCsv: columns: a appears twice"],
    [{ columns: { a: "x", b: "x" } }, "writeCsv: columns: x appears twice"],
    [{ columns: ["a", ""] }, "writeCsv: columns must contain only non-empty strings"],
    [
      { append: true, onWritten: true, gzip: 1 },
      'writeCsv: there is no option "append"; gzip must be true or false, got 1; onWritten must be a function, got true',
    ],
  ];
  test.each(writing)("of writing is refused before a file is made: %j", async (options, problem) => {
    const { path, names } = scratch();
    await expect(writeCsv(path("out.csv"), [{ a: 1 }], loose(options))).rejects.toThrow(problem);
    expect(names()).toEqual([]);
  });
});

describe("records that cannot be iterated", () => {
  const what = "the records must be an array, a generator or a stream of objects";
  const refused: [records: unknown, message: string][] = [
    [
      { data: [{ a: 1 }], total: 1 },
      `${what}. You passed one page. Pass page.data, or pass the list without await to write every page`,
    ],
    [Promise.resolve([]), `${what}. You passed a promise. Await it first`],
    [{ a: 1 }, what],
    [null, what],
    ["a,b", what],
  ];
  test.each(refused)("are refused with what to do, and no file is made: %j", async (records, message) => {
    const { path, names } = scratch();
    for (const write of [writeCsv, writeNdjson]) {
      const error: unknown = await write(path("out"), loose(records)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ message });
    }
    expect(names()).toEqual([]);
  });
});

test.each(["[id]", "[[...id]]", "{{id}}", "{[id]}"])("a path may start with brackets: %s", async (folder) => {
  await expect(gather(readCsv(`${folder}/none.csv`))).rejects.toThrow("/none.csv: cannot be read (ENOENT");
});

test.each([
  "email,name\nann@b.co,Ann",
  "email\rann@b.co",
  ' {"email":"ann@b.co"}',
  '[{"email":"ann@b.co"}]',
  '[ "ann@b.co"]',
])("%j is refused as a path, without the text in the error", async (text) => {
  const readers: readonly ((text: string) => unknown)[] = [readContacts, readCsv, readNdjson];
  for (const read of readers) {
    expect(() => read(text)).toThrow(ConfigurationError);
    expect(() => read(text)).toThrow(
      /^[^@]*the source is the text of a file, not its path\. Pass a path, or for text Readable\.from\(\[text\]\) of node:stream$/,
    );
  }
  expect(await gather(readNdjson(Readable.from(['{"email":"ann@b.co"}'])))).toEqual([{ email: "ann@b.co" }]);
});

test.each([[null], [5], [{}]])("%j is no target", async (target) => {
  for (const write of [writeCsv, writeNdjson]) {
    await expect(write(loose(target), [{ a: 1 }])).rejects.toThrow(
      "the target must be a path, a file: URL or a writable stream",
    );
  }
});
