import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { gunzipSync } from "node:zlib";
import { readCsv, type WriteCsvOptions, writeCsv } from "touchpoint-sdk/files";
import { describe, expect, test, vi } from "vitest";
import { ValidationError } from "../../../src/errors.ts";
import { gather, scratch } from "./scratch.ts";

const write = async (records: Iterable<object>, options: WriteCsvOptions = {}): Promise<string> => {
  const stream = new PassThrough();
  await writeCsv(stream, records, options);
  return stream.read()?.toString() ?? "";
};

describe("writeCsv", () => {
  test("writes a header and a line per record, and tells how much", async () => {
    const { path, text, names } = scratch();
    expect(await writeCsv(path("out.csv"), [{ a: 1, b: "x,y" }, { a: 2 }])).toEqual({
      records: 2,
      bytes: 15,
    });
    expect([text("out.csv"), names()]).toEqual(['a,b\n1,"x,y"\n2,\n', ["out.csv"]]);
  });

  test("fields of objects are columns with dotted names; a dot of a key gets a backslash", async () => {
    const records = [{ id: 1, customFields: { plan: "pro", "a.b": { c: 2 } } }];
    expect(await write(records)).toBe("id,customFields.plan,customFields.a\\.b.c\n1,pro,2\n");
  });

  test("the form of each kind of value", async () => {
    const record = {
      date: new Date(0),
      nothing: null,
      missing: undefined,
      yes: true,
      big: 12n,
      listIds: ["a", "b"],
      empty: [],
      joined: ["a;b", "c"],
      objects: [{ a: 1 }],
      quoted: 'a"b\r\nc',
      padded: " x ",
    };
    expect(await write([record])).toBe(
      "date,nothing,missing,yes,big,listIds,empty,joined,objects,quoted,padded\n" +
        '1970-01-01T00:00:00.000Z,,,true,12,a;b,,"[""a;b"",""c""]","[{""a"":1}]","a""b\r\nc"," x "\n',
    );
  });

  test("columns choose the fields, their order and their names; an object as one column is JSON", async () => {
    const records = [{ a: 1, b: { c: 2 }, d: 3 }];
    expect(await write(records, { columns: ["d", "b.c", "b", "none.x"] })).toBe(
      'd,b.c,b,none.x\n3,2,"{""c"":2}",\n',
    );
    expect(await write(records, { columns: { "b.c": "C", a: "A" } })).toBe("C,A\n2,1\n");
  });

  test("columns named like something every object has are empty where the record has no such field", async () => {
    expect(await write([{ a: 1 }], { columns: ["a", "__proto__", "toString"] })).toBe(
      "a,__proto__,toString\n1,,\n",
    );
  });

  test("on a stream, too, every field of every record is a column, however late it appears", async () => {
    const records = [...Array(1200).fill({ a: 1 }), { b: 1, customFields: { plan: "pro" } }];
    const text = await write(records);
    expect([text.slice(0, 26), text.slice(-12)]).toEqual(["a,b,customFields.plan\n1,,\n", "\n1,,\n,1,pro\n"]);
  });

  test("where nothing can wait for the columns, the error names the place", async () => {
    const { path } = scratch();
    vi.stubEnv("TMPDIR", path("none"));
    const writing = write([{ a: 1 }]);
    await expect(writing).rejects.toThrow(/none.touchpoint.*rows\.tmp cannot be written/);
    vi.unstubAllEnvs();
    expect(await write([{ a: 1 }])).toBe("a\n1\n");
  });

  test("in a file, every field of every record is a column, however late it appears", async () => {
    const { path, text, names } = scratch();
    const records = [
      ...Array(1500).fill({ a: 1, at: new Date(0) }),
      { a: -2, customFields: { plan: "=x", big: 12n, tags: ["b", "c"] }, at: null },
      { a: Number.NaN, customFields: null, z: { deep: { er: true } } },
    ];
    const onWritten: number[] = [];
    const written = await writeCsv(path("out.csv"), records, {
      onWritten: (now) => void onWritten.push(now.records),
    });
    const lines = text("out.csv").split("\n");
    expect(lines[0]).toBe("a,at,customFields.plan,customFields.big,customFields.tags,z.deep.er");
    expect(new Set(lines.slice(1, 1501))).toEqual(new Set(["1,1970-01-01T00:00:00.000Z,,,,"]));
    expect(lines.slice(1501)).toEqual(["-2,,'=x,12,b;c,", "NaN,,,,,true", ""]);
    expect([written.records, onWritten.at(-1), names()]).toEqual([1502, 1502, ["out.csv"]]);
    await writeCsv(path("out.csv.gz"), records);
    expect(gunzipSync(readFileSync(path("out.csv.gz"))).toString()).toBe(text("out.csv"));
  });

  test("a record that fails late is named, and nothing is left behind", async () => {
    const { path, names } = scratch();
    const late = (record: unknown) => [...Array(1200).fill({ a: 1 }), record as object];
    await expect(writeCsv(path("out.csv"), late({ at: new Date(Number.NaN) }))).rejects.toThrow(
      "record 1201: at cannot",
    );
    await expect(writeCsv(path("out.csv"), late(5))).rejects.toThrow("record 1201 is not an object");
    async function* failing() {
      yield* late({ a: 1 });
      throw new Error("the source broke");
    }
    await expect(writeCsv(path("out.csv"), failing())).rejects.toThrow("the source broke");
    expect(names()).toEqual([]);
  });

  test("a field that only lately has no value is an empty column", async () => {
    const records = [...Array(1000).fill({ a: 1 }), { a: 2, b: null, c: undefined, d: {} }];
    const text = await write(records);
    expect([text.slice(0, 9), text.slice(-5)]).toEqual(["a,b,c\n1,,", "\n2,,\n"]);
  });

  test("an object without fields is {} where the column has values, however late the record comes", async () => {
    const { path, text } = scratch();
    const records = [{ a: 1 }, { a: {} }, ...Array(1200).fill({ a: 1, b: {} }), { a: {} }, { b: {} }];
    const expected = `a\n1\n{}\n${"1\n".repeat(1200)}{}\n""\n`;
    await writeCsv(path("out.csv"), records);
    expect([text("out.csv"), await write(records)]).toEqual([expected, expected]);
  });

  test("a field that is null here and an object there is the columns of the object", async () => {
    expect(await write([{ a: null }, { a: { b: 1 } }])).toBe('a.b\n""\n1\n');
  });

  test("a field that is a value here and an object there is one column", async () => {
    expect(await write([{ a: 1 }, { a: { b: 1 } }])).toBe('a\n1\n"{""b"":1}"\n');
  });

  test("without records there is a header if there are columns", async () => {
    expect([await write([]), await write([], { columns: ["a", "b"] })]).toEqual(["", "a,b\n"]);
  });

  test("a name with a semicolon or tab is quoted, so that the reader does not take it for several", async () => {
    expect(await write([{ "a;b": 1 }])).toBe('"a;b"\n1\n');
  });

  test.each([",", ";", "\t", "|"])(
    "the reader detects the delimiter %j, whatever the names contain",
    async (delimiter) => {
      const { path } = scratch();
      for (const name of ["Last, First", "a;b;c", "a\tb\tc", "a|b|c"]) {
        const records = [{ [name]: "x", b: "1,5" }];
        await writeCsv(path("out.csv"), records, { delimiter });
        expect(await gather(readCsv(path("out.csv")))).toEqual(records);
      }
    },
  );

  test("takes another delimiter, and a byte order mark for Excel", async () => {
    expect(await write([{ a: "1;2", b: "3,4" }], { delimiter: ";", byteOrderMark: true })).toBe(
      '\uFEFFa;b\n"1;2";3,4\n',
    );
  });

  test.each([
    ["an invalid date", { a: new Date(Number.NaN) }, "record 1: a cannot be written (Invalid time value)"],
    ["null", null, "record 1 is not an object"],
    ["records without fields", {}, "the records have no fields"],
  ])("is a ValidationError: %s", async (_, record, reason) => {
    // Types rule out null; a caller in JavaScript has none.
    const error = await write([record as object]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ message: expect.stringContaining(reason) });
  });

  test.each([1, 1000, 1001, 1200])(
    "an object that refers to itself is told, in record %i",
    async (number) => {
      const inner: Record<string, unknown> = { plan: "pro" };
      inner["a.b"] = { back: inner };
      const records = [...Array(number - 1).fill({ a: 1 }), { a: 1, customFields: inner }];
      const message = `record ${number}: customFields.a\\.b.back cannot be written (the object contains itself)`;
      const { path, names } = scratch();
      const error = await writeCsv(path("out.csv"), records).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ message });
      expect(names()).toEqual([]);
    },
  );

  test("an object that refers to itself is refused in a chosen column, too", async () => {
    const record: Record<string, unknown> = { a: 1 };
    record.self = record;
    await expect(write([{ a: 1 }, record], { columns: ["a", "self"] })).rejects.toThrow(
      "record 2: self cannot be written (Converting circular structure",
    );
  });

  test("a bigint in an array of objects is refused in a chosen column, and a number in JSON without one", async () => {
    const records = [{ a: [{ b: 1n }] }];
    await expect(write(records, { columns: ["a"] })).rejects.toThrow(
      "record 1: a cannot be written (Do not know how",
    );
    expect(await write(records)).toBe('a\n"[{""b"":1}]"\n');
  });

  test("an object that appears twice, and not within itself, is written twice", async () => {
    const plan = { name: "pro" };
    expect(await write([{ a: plan, b: plan }])).toBe("a.name,b.name\npro,pro\n");
  });

  test("an object whose toJSON returns undefined is an empty cell", async () => {
    const record = { a: { toJSON: () => undefined }, b: 1 };
    expect(await write([record], { columns: ["a", "b"] })).toBe("a,b\n,1\n");
  });

  test("no columns at all are refused", async () => {
    await expect(write([{ a: 1 }], { columns: [] })).rejects.toThrow("columns must name at least one column");
  });
});

describe("formulas", () => {
  test.each([
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ["+cmd|x", "'+cmd|x"],
    ["-A1", "'-A1"],
    ["@SUM(1)", "'@SUM(1)"],
    ["\tx", `"'\tx"`],
    ["\t=x", `"'\t=x"`],
    ["\rx", `"'\rx"`],
    ["\n=x", `"'\n=x"`],
    ["+44 (20) 7946-0000", "'+44 (20) 7946-0000"],
    ["-5.5", `"'-5.5"`],
    ["＝1", "'＝1"],
    ["'=1", "''=1"],
    ["''\n1", `"'''\n1"`],
  ])("%j gets an apostrophe", async (value, cell) => {
    expect(await write([{ a: value }])).toBe(`a\n${cell}\n`);
  });

  test.each([
    [-5, "-5"],
    [-5n, "-5"],
    [-1e21, "-1e+21"],
    ["'tis", "'tis"],
    ["a=b", "a=b"],
  ])("%s stays as it is", async (value, cell) => {
    expect(await write([{ a: value }])).toBe(`a\n${cell}\n`);
  });

  test("a negative number that waits for the columns in a file stays a number", async () => {
    const { path, text } = scratch();
    await writeCsv(path("out.csv"), [...Array(1_200).fill({ a: 1 }), { a: -5 }, { a: -6n }]);
    expect(text("out.csv").slice(-6)).toBe("-5\n-6\n");
  });

  test("are guarded in names of columns and joined arrays too, and nowhere when told not to", async () => {
    const records = [{ "=a": ["=b", "c"] }];
    expect(await write(records)).toBe("'=a\n'=b;c\n");
    expect(await write(records, { escapeFormulas: false })).toBe("=a\n=b;c\n");
  });
});
