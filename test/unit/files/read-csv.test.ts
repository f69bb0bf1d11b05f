import { gzipSync } from "node:zlib";
import { type InvalidLine, type ReadCsvOptions, readCsv } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { ValidationError } from "../../../src/errors.ts";
import { gather, inPieces, scratch } from "./scratch.ts";

const read = (text: string | Uint8Array, options: ReadCsvOptions = {}) =>
  gather(readCsv(inPieces(text, 3), options));

/** The records read, and what onInvalid was told, in one log. */
const readPastFaults = async (text: string | Uint8Array, options: ReadCsvOptions = {}) => {
  const invalid: unknown[] = [];
  const onInvalid = ({ line, text, error }: InvalidLine) => void invalid.push([line, text, error.message]);
  return { records: await read(text, { ...options, onInvalid }), invalid };
};

describe("readCsv", () => {
  test("names the cells by the first row, as strings", async () => {
    expect(await read("email,score\nann@example.com,007\n")).toEqual([
      { email: "ann@example.com", score: "007" },
    ]);
  });

  test("makes objects of dotted names, and keeps a dot that belongs to a key", async () => {
    expect(await read("email,customFields.plan,customFields.Size\\.EU\na@b.co,pro,9\n")).toEqual([
      { email: "a@b.co", customFields: { plan: "pro", "Size.EU": "9" } },
    ]);
  });

  test("takes a byte order mark, CRLF, blank lines and a last line without newline", async () => {
    expect(await read("\uFEFFa,b\r\n\r\n1,2\r\n\r\n3,4")).toEqual([
      { a: "1", b: "2" },
      { a: "3", b: "4" },
    ]);
  });

  test.each(["sep=;\r\n", "\uFEFFSEP=;\n"])(
    "%j above the header tells the delimiter, and is no header",
    async (sep) => {
      const places: number[] = [];
      const cast: ReadCsvOptions["cast"] = (cell, { line }) => {
        places.push(line);
        return cell;
      };
      expect(await read(`${sep}a;b\n"1,5";2\nsep=;2\n`, { cast })).toEqual([
        { a: "1,5", b: "2" },
        { a: "sep=", b: "2" },
      ]);
      expect(places).toEqual([3, 3, 4, 4]);
      expect(await read(`${sep}a,b\n1,2\n`, { delimiter: "," })).toEqual([{ a: "1", b: "2" }]);
    },
  );

  test("quoted cells keep delimiters, quotes and line breaks as they are", async () => {
    expect(await read('a,b\r\n"1,""x""\r\n\n2",3\r\n')).toEqual([{ a: '1,"x"\r\n\n2', b: "3" }]);
  });

  test.each([1, 3, 64])("lines end with LF or CRLF, in chunks of %i", async (size) => {
    const places: unknown[] = [];
    const cast: ReadCsvOptions["cast"] = (cell, { column, line }) => {
      if (column === "a") places.push(line);
      return cell;
    };
    for (const text of ["a,b\n1,2\r\n\r\n3,4\n", "a,b\r\n1,2\n\n3,4\r\n"]) {
      expect(await gather(readCsv(inPieces(text, size), { cast }))).toEqual([
        { a: "1", b: "2" },
        { a: "3", b: "4" },
      ]);
    }
    expect(places).toEqual([2, 4, 2, 4]);
  });

  test.each([1, 2, 64])("a carriage return alone ends a line, in chunks of %i", async (size) => {
    const rows = [
      { a: "1", b: "2" },
      { a: "3", b: "4" },
    ];
    for (const text of ["a,b\r1,2\r3,4\r", "a,b\r1,2\r\n3,4", "a,b\n1,2\r\r\r\n3,4\r"])
      expect(await gather(readCsv(inPieces(text, size)))).toEqual(rows);
  });

  test.each([1, 3, 64])("a quoted cell keeps each line end as it is, in chunks of %i", async (size) => {
    const text = 'a,b\r\n"1\r2\n3\r\n4\r",5\n"\r\n",6';
    expect(await gather(readCsv(inPieces(text, size)))).toEqual([
      { a: "1\r2\n3\r\n4\r", b: "5" },
      { a: "\r\n", b: "6" },
    ]);
  });

  test("an empty file, and one with a header only, have no records", async () => {
    expect([await read(""), await read("a,b\n")]).toEqual([[], []]);
  });

  test.each([
    ["omit", [{ b: "2" }]],
    ["string", [{ a: "", b: "2" }]],
  ] as const)("an empty cell with emptyCells %s", async (emptyCells, expected) => {
    expect(await read("a,b\n,2\n", { emptyCells })).toEqual(expected);
  });

  test("an empty cell is no field unless asked for", async () => {
    expect(await read("a,b\n,2\n")).toEqual([{ b: "2" }]);
  });

  test("renames and leaves out columns, and leaves out those without a name", async () => {
    const columns = { "E-mail": "email", Plan: "customFields.plan", Note: false } as const;
    expect(await read("E-mail,Note,Plan,city,\na@b.co,secret,pro,Ulm, \n", { columns })).toEqual([
      { email: "a@b.co", customFields: { plan: "pro" }, city: "Ulm" },
    ]);
  });

  test.each([
    ["semicolons", "\uFEFFemail;name\na@b.co;Ann, Ulm\n"],
    ["tabs", "email\tname\r\na@b.co\tAnn, Ulm\r\n"],
    ["tabs, with a comma in a name", "email\tname\tx, y\na@b.co\tAnn, Ulm\n"],
    ["semicolons, with a comma in a quoted name", 'email;name;"x, y"\na@b.co;Ann, Ulm;\n'],
  ])("a file separated by %s is recognized", async (_, text) => {
    expect(await read(text)).toEqual([{ email: "a@b.co", name: "Ann, Ulm" }]);
  });

  test.each([
    ["a comma in the first line", "email,a;b;c\nx,y\n", {}, [{ email: "x", "a;b;c": "y" }]],
    ["a quoted name", '"a;b"\nx;y\n', {}, [{ "a;b": "x;y" }]],
    ["the option", "a;b\nx;y\n", { delimiter: "," }, [{ "a;b": "x;y" }]],
  ])("semicolons do not separate against %s", async (_, text, options, expected) => {
    expect(await read(text, options)).toEqual(expected);
  });

  test("cast makes the values, knows where it is, and leaves out what it makes undefined", async () => {
    const places: unknown[] = [];
    const cast: ReadCsvOptions["cast"] = (cell, place) => {
      places.push(place);
      return place.column === "ids" ? cell.split(";") : undefined;
    };
    expect(await read('ids,b\n\n"x;y",2\n', { cast })).toEqual([{ ids: ["x", "y"] }]);
    expect(places).toEqual([
      { column: "ids", line: 3, isQuoted: true },
      { column: "b", line: 3, isQuoted: false },
    ]);
  });

  test("takes away the apostrophe of a formula guard, unless told not to", async () => {
    const text = "'=a,b,c,d\n'=1+1,'+44 20,'tis,''=x\n";
    expect(await read(text)).toEqual([{ "=a": "=1+1", b: "+44 20", c: "'tis", d: "'=x" }]);
    expect(await read(text, { unescapeFormulas: false })).toEqual([
      { "'=a": "'=1+1", b: "'+44 20", c: "'tis", d: "''=x" },
    ]);
  });

  test("unpacks by the name", async () => {
    const path = scratch().put("contacts.csv.gz", gzipSync("a\n1\n"));
    expect(await gather(readCsv(path))).toEqual([{ a: "1" }]);
  });

  test("fields named like those of every object are fields like all others", async () => {
    const [record] = await read("constructor,toString\n1,2\n");
    expect(Object.entries(record ?? {})).toEqual([
      ["constructor", "1"],
      ["toString", "2"],
    ]);
  });
});

describe("bad lines", () => {
  test("are thrown with the file, the first line of the record, the reason and the fix", async () => {
    const path = scratch().put("contacts.csv", 'a,b\n"x\ny",2\n"x\ny"z,2\n');
    const error = await gather(readCsv(path)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({
      message: `${path} line 4: text after a closing quote; inside a quoted cell, write a quote as "" (this row spans lines 4 to 5). Correct it, or pass onInvalid to skip it`,
    });
  });

  test("are rows that a stray quote has joined, named with the range of lines", async () => {
    const tab = "\t";
    const rows = ['a@b.co,1,"big one', "c@d.co,2,", "", "none,3,x", 'g@h.co,4,Monitor 19"', "i@j.co,5,y"];
    for (const delimiter of [",", ";", tab]) {
      const text = ["email,id,note", ...rows].join("\n").replaceAll(",", delimiter);
      const { records, invalid } = await readPastFaults(text);
      expect(records).toEqual([{ email: "i@j.co", id: "5", note: "y" }]);
      expect(invalid).toEqual([
        [
          2,
          expect.stringContaining("Monitor"),
          'input line 2: a stray quote seems to join several rows. If a cell contains a quote, write it as "" and put the cell in quotes (this row spans lines 2 to 6)',
        ],
      ]);
      const { invalid: open } = await readPastFaults(text.replace('19"', "19"));
      expect(open).toEqual([[2, expect.anything(), expect.stringMatching(/stray quote.* lines 2 to 7\)$/)]]);
    }
  });

  test.each([
    ["addresses", 'a@b.co,"cc:\nc@d.co\ne@f.co"', "cc:\nc@d.co\ne@f.co"],
    ["as many delimiters as the header", 'a@b.co,"Monday\nthanks, Ann"', "Monday\nthanks, Ann"],
    ["addresses and delimiters", 'a@b.co,"Hi,\nc@d.co, e@f.co\nbye"', "Hi,\nc@d.co, e@f.co\nbye"],
    ["an address and a remark", 'a@b.co,"Team:\nc@d.co, assistant"', "Team:\nc@d.co, assistant"],
    ["two addresses each", 'a@b.co,"Team:\nc@d.co, e@f.co"', "Team:\nc@d.co, e@f.co"],
  ])("are not quoted cells whose lines have %s", async (_, row, note) => {
    expect(await read(`email,note\n${row}\n`)).toEqual([{ email: "a@b.co", note }]);
  });

  test.each([
    ["a file of one column", "list", '"a@b.co\nc@d.co"', { list: "a@b.co\nc@d.co" }],
    [
      "a note with a table of people",
      "email,name,note",
      'x@y.co,N,"Team:\nAda,CEO,c@d.co\nBob,CFO,e@f.co"',
      { email: "x@y.co", name: "N", note: "Team:\nAda,CEO,c@d.co\nBob,CFO,e@f.co" },
    ],
  ])("are not the lines of %s", async (_, header, row, record) => {
    expect(await read(`${header}\n${row}\n`)).toEqual([record]);
  });

  test.each(['"Al, a@b.co\nBo, c@d.co\nCy", e@f.co', '"Al,a@b.co\nBo, c@d.co\nCy",e@f.co'])(
    "are joined rows with spaces after delimiters, too: %j",
    async (rows) => {
      await expect(read(`name,email\n${rows}\n`)).rejects.toThrow("stray quote");
    },
  );

  test("go to onInvalid with their text, and reading goes on at the next record", async () => {
    const text = 'a,b\n1,2,3\n"x\ny"z,2\n8,9\n';
    expect(await readPastFaults(text)).toEqual({
      records: [{ a: "8", b: "9" }],
      invalid: [
        [2, "1,2,3", "input line 2: this row has 3 cells, but the header has 2 columns"],
        [
          3,
          '"x\ny"z,2',
          'input line 3: text after a closing quote; inside a quoted cell, write a quote as "" (this row spans lines 3 to 4)',
        ],
      ],
    });
  });

  test("are counted behind quoted cells with line ends of every kind, blank lines and other bad lines", async () => {
    const text =
      'a,b\r\n"1\r\n\r\n\r\n\n2",x\r\n\r\n\r\n1,2,3\r\n"x"y,"2\r\nz"\r\n"a"b,"2\r\nz"\r\n8,9\r\n5,6,7\r\n';
    for (const size of [1, 3, 1_000]) {
      const invalid: number[] = [];
      const onInvalid = ({ line }: InvalidLine) => void invalid.push(line);
      const records = await gather(readCsv(inPieces(text, size), { onInvalid }));
      expect(records).toEqual([
        { a: "1\r\n\r\n\r\n\n2", b: "x" },
        { a: "8", b: "9" },
      ]);
      expect(invalid).toEqual([9, 10, 12, 15]);
    }
  });

  test("are rows with text under a column without a name, except the first or one that columns names", async () => {
    const shifted = "email;name;phone;\na@b.co;Meyer; Anna;030 1;\n";
    expect(await readPastFaults(shifted)).toEqual({
      records: [],
      invalid: [
        [
          2,
          "a@b.co;Meyer; Anna;030 1;",
          "input line 2: cell 4 is not empty, but column 4 of the header has no name. If a cell contains the delimiter, quote that cell. Otherwise, name the column",
        ],
      ],
    });
    expect((await readPastFaults("email,,name\na@b.co,x,Ann\n")).invalid).toHaveLength(1);
    // pandas and R write row numbers without a name.
    expect(await read(",email\n0,a@b.co\n")).toEqual([{ email: "a@b.co" }]);
    expect(await read("email,\na@b.co,x\n", { columns: { "": false } })).toEqual([{ email: "a@b.co" }]);
  });

  test("a line break in a quoted cell behind the fault does not end the record", async () => {
    const { records, invalid } = await readPastFaults('a,b,c\n"x"y,"1\n8,9,10\n",2\n5,6,7\n');
    expect([records, invalid.length]).toEqual([[{ a: "5", b: "6", c: "7" }], 1]);
  });

  test("a quote that is never closed is reported where it opens; what it took is not read as records", async () => {
    expect(await readPastFaults('a\n1\n"2\n3\n4\n')).toEqual({
      records: [{ a: "1" }],
      invalid: [
        [
          3,
          '"2\n3\n4',
          "input line 3: the quoted cell that starts here is never closed (this row spans lines 3 to 5)",
        ],
      ],
    });
  });

  test("text in another encoding is refused instead of mangled", async () => {
    const latin1 = Buffer.from("a\nZo\xeb\nok\n", "latin1");
    expect(await readPastFaults(latin1)).toEqual({
      records: [{ a: "ok" }],
      invalid: [
        [
          2,
          "Zo\uFFFD",
          "input line 2: not UTF-8 text; save the file as UTF-8, or set its encoding, for example windows-1252",
        ],
      ],
    });
  });

  test("a header with characters that only a wrong encoding gives is refused", async () => {
    const bytes = Buffer.from("email,Stra\x81e\n", "latin1");
    await expect(read(bytes, { encoding: "windows-1252" })).rejects.toThrow(
      "header: it has control characters",
    );
    expect(await read("a\n\u0081\n")).toEqual([{ a: "\u0081" }]);
  });

  test("control characters are no sign of a wrong encoding in Unicode, whatever encoding is set", async () => {
    const text = "a\nO\u0092Brien\n";
    const bytes = Buffer.from(text);
    for (const [source, encoding] of [
      [Buffer.from(text, "utf16le"), "utf-16le"],
      // A byte order mark takes precedence over the encoding that is set.
      [Buffer.concat([Buffer.from("\uFEFF"), bytes]), "windows-1252"],
      [Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]), "windows-1252"],
      [bytes, "unicode-1-1-utf-8"],
    ] as const)
      expect(await read(source, { encoding })).toEqual([{ a: "O\u0092Brien" }]);
  });

  test("an encoding with several bytes per character may look like UTF-8", async () => {
    // These bytes are also valid in UTF-8.
    expect(await read(Buffer.from("a\n\xc4\xa3\n", "latin1"), { encoding: "gbk" })).toEqual([{ a: "模" }]);
  });

  test.each([
    ["NESTL\u00C9\u00AE", "windows-1252", "NESTL\xc9\xae"],
    ["R\u016E\u017DENA", "windows-1250", "R\xd9\x8eENA"],
    ["STR\u00D3\u017B", "iso-8859-2", "STR\xd3\xaf"],
  ])("%s in %s is valid in UTF-8 by chance, which does not show UTF-8", async (text, encoding, bytes) => {
    expect(await read(Buffer.from(`a\n${bytes}\n`, "latin1"), { encoding })).toEqual([{ a: text }]);
  });

  test.each([
    "\u00FC",
    "\u0142",
    "\u021B",
    "e\u0301",
    "\u03B1",
    "\u0434",
    "\u0562",
    "\u05D0",
    "\u0645",
    "\u0E01",
    "\u65E5",
    "😀",
  ])("%s shows that a text is UTF-8", async (text) => {
    await expect(read(Buffer.from(`a\n${text}\n`), { encoding: "windows-1252" })).rejects.toThrow(
      "is UTF-8 text, not windows-1252",
    );
  });

  test("windows-1252 has its own signs where Latin-1 has control characters, in one chunk too", async () => {
    const bytes = Buffer.from("a\n\x80 5. Ada\x92s\n", "latin1");
    for (const size of [1, bytes.length])
      expect(await gather(readCsv(inPieces(bytes, size), { encoding: "windows-1252" }))).toEqual([
        { a: "\u20AC 5. Ada\u2019s" },
      ]);
  });

  test("what cast throws is the reason, with its cause", async () => {
    const own = new Error("not a number");
    const cast = () => {
      throw own;
    };
    await expect(read("a\nx\n", { cast })).rejects.toMatchObject({
      message: expect.stringContaining("input line 2: cast failed (not a number)"),
      cause: own,
    });
  });

  test.each([
    ["one line", "a\n12345678901\nb\n"],
    ["a quoted cell over many lines", 'a\n"1234\n1234\n1234\n'],
  ])("a record over the cap ends the reading even with onInvalid: %s", async (_, text) => {
    await expect(readPastFaults(text, { maxLineBytes: 10 })).rejects.toThrow(
      "input line 2: record longer than maxLineBytes (10); increase it if this line is correct, or close the quote it opens",
    );
  });

  test("records before one over the cap are returned, even from the same chunk", async () => {
    const found: unknown[] = [];
    const reading = async () => {
      const source = inPieces("a\n1\n\n\n\n\n\n\n\n\n\n\n\n\n2\n12345678901\n3\n", 1_000);
      for await (const record of readCsv(source, { maxLineBytes: 10 })) found.push(record);
    };
    await expect(reading()).rejects.toThrow("input line 16: record longer than maxLineBytes (10)");
    expect(found).toEqual([{ a: "1" }, { a: "2" }]);
  });

  test("a record as long as the cap is read", async () => {
    expect(await read('a\n"345\n678"\r\n', { maxLineBytes: 10 })).toEqual([{ a: "345\n678" }]);
  });
});

describe("a header that cannot be used is refused even with onInvalid", () => {
  test.each([
    ["a,a", "a appears twice. Change the header, or in code set the option columns: {"],
    ["customFields.a,customFields", "customFields.a is inside customFields, which has its own column"],
    ["__proto__", "__proto__ cannot be the name of a field"],
    ['"a"b', "text after a closing quote"],
    ["email, email\u200b", "email appears twice"],
  ])("%s", async (header, reason) => {
    await expect(readPastFaults(`${header}\n1\n`)).rejects.toThrow(`input line 1: header: ${reason}`);
  });

  test.each([
    [{ Phone: "phone" }, "Phone appears twice"],
    [{ "Name+Phone": "name" }, "Phone appears twice"],
  ])("a name that several columns have, in %j", async (columns, reason) => {
    await expect(read("Name,Phone,Phone\n", { columns })).rejects.toThrow(`input line 1: header: ${reason}`);
    expect(await read("Name,Phone,Phone\na,b,c\n", { columns: { Phone: false } })).toEqual([{ Name: "a" }]);
  });

  test("UTF-16 without a byte order mark, in a script whose letters have no NUL", async () => {
    const text = Buffer.from("Имя;Электронная почта\nАнна;anna@x.example\n", "utf16le");
    await expect(read(text)).rejects.toThrow("header: it has NUL characters, as UTF-16 and UTF-32 have");
  });

  test("a new name for a column that is not there", async () => {
    await expect(read("email\n", { columns: { Email: "email" } })).rejects.toThrow(
      'input line 1: header: there is no column "Email"',
    );
  });
});

test.each(["", ",,", '"', "\n"])("the delimiter %j is refused at the call", (delimiter) => {
  expect(() => readCsv("contacts.csv", { delimiter })).toThrow("delimiter must be one character");
});

test("a byte order mark in the middle belongs to no cell, as in files that were joined", async () => {
  expect(await read('a,b\n1,2\n\uFEFF"3","4, 5"\n"6\n\uFEFF7",8\n')).toEqual([
    { a: "1", b: "2" },
    { a: "3", b: "4, 5" },
    { a: "6\n\uFEFF7", b: "8" },
  ]);
});

test("a row that a backslash has cut or split is refused, and a path at the end of a cell is none", async () => {
  const { records, invalid } = await readPastFaults("a,b,c\nL\\, Ada,x,\nx,y\\\nz\nC:\\,D:\\,E:\\\n");
  expect(records).toEqual([{ a: "z" }, { a: "C:\\", b: "D:\\", c: "E:\\" }]);
  const problem = expect.stringContaining("A backslash does not escape a delimiter or a line break");
  expect(invalid).toEqual([
    [2, "L\\, Ada,x,", problem],
    [3, "x,y\\", problem],
  ]);
});

test("a short row may end with a backslash if its last cell is quoted, and not if another cell is", async () => {
  const { records, invalid } = await readPastFaults('a,b,c\nx,"C:\\"\n"x",y\\\n');
  expect(records).toEqual([{ a: "x", b: "C:\\" }]);
  expect(invalid).toEqual([[3, '"x",y\\', expect.stringContaining("A backslash does not escape")]]);
});

test("a text in a formula is a text, unless told not to", async () => {
  const text = 'a,b\n="0049","=""0050"""\n=SUM(1),\'="x"\n';
  expect(await read(text)).toEqual([
    { a: "0049", b: "0050" },
    { a: "=SUM(1)", b: '="x"' },
  ]);
  expect(await read('a\n="0049"\n', { unescapeFormulas: false })).toEqual([{ a: '="0049"' }]);
});
