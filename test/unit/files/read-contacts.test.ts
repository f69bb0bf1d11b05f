import fc from "fast-check";
import {
  type ContactRow,
  type FieldsSchema,
  type InvalidLine,
  readContacts,
  readNdjson,
  writeCsv,
  writeNdjson,
} from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { gather, inPieces, scratch } from "./scratch.ts";

const read = (text: string, customFields?: FieldsSchema) =>
  gather(readContacts(inPieces(text, 5), { format: "csv", customFields }));

const fieldsOf = async (cell: string, customFields?: FieldsSchema): Promise<unknown> => {
  const [contact] = await read(`email,customFields.a\na@b.co,${cell}\n`, customFields);
  return (contact as ContactRow | undefined)?.customFields?.a;
};

describe("readContacts", () => {
  test.each([
    ["csv", "email\n\na@b.co\nnobody\n"],
    ["csv", "id,email\n\n1,a@b.co\n2,nobody\n"],
    ["ndjson", '\n\n{"email":"a@b.co"}\n{"email":"nobody","name":null}\n'],
  ] as const)("an import names each row of %s by its line in the file", async (format, text) => {
    const sandbox = createSandbox({ apiKeys: ["key"] });
    const client = new Client({ apiKey: "key", baseUrl: "http://127.0.0.1", fetch: sandbox.fetch });
    const lines: unknown[] = [];
    await client.contacts.import(readContacts(inPieces(text, 5), { format }), {
      onRejected: ({ index, line }) => void lines.push([index, line]),
    });
    expect(lines).toEqual([[1, 4]]);
  });

  test("knows the kinds of a contact's own fields, and leaves out what the service sets", async () => {
    const text =
      "id,email,name,verified,emailConfidence,listIds,customFields,createdAt\n" +
      'c1,a@b.co,007,true,0.5,li_1,"{""seats"":3}",2026-01-01\n';
    expect(await read(text)).toEqual([
      {
        email: "a@b.co",
        name: "007",
        verified: true,
        emailConfidence: 0.5,
        listIds: ["li_1"],
        customFields: { seats: 3 },
      },
    ]);
  });

  test("null fields are left out, so that you can import an NDJSON export", async () => {
    const text =
      '{"id":"c1","email":"a@b.co","name":null,"leadId":null,"listIds":null,"customFields":{"a":null,"b":{"c":null}}}\n';
    const contacts = readContacts(inPieces(text, 5), { format: "ndjson" });
    expect(await gather(contacts)).toEqual([{ email: "a@b.co", customFields: { b: { c: null } } }]);
    expect(await read('email,customFields\na@b.co,"{""a"":null,""b"":1}"\n')).toEqual([
      { email: "a@b.co", customFields: { b: 1 } },
    ]);
  });

  test.each([
    ["3", 3],
    ['"3"', "3"],
    ["-0.5", -0.5],
    ["007", "007"],
    ["1.0", "1.0"],
    ["true", true],
    ['"true"', "true"],
    ["a;b", ["a", "b"]],
    ['"a;b"', "a;b"],
    ['"[1,""x""]"', [1, "x"]],
    ['"""[1]"""', "[1]"],
    ["Infinity", "Infinity"],
    ["pro", "pro"],
  ])("a custom field's cell %s is %j", async (cell, value) => {
    expect(await fieldsOf(cell)).toEqual(value);
  });

  test.each(["4.91701E+11", "4,91701E+11", "1E+05", "4.91701234567e+11", "-2.5E-07"])(
    "a cell that a spreadsheet has shortened to %s is refused in every column of text",
    async (cell) => {
      const errors: string[] = [];
      const onInvalid = ({ error }: InvalidLine) => void errors.push(error.message);
      const csv = `email;phone;customFields.a\na@b.co;${cell};x\na@b.co;1;${cell}\n`;
      const path = scratch().put("a.csv", csv);
      expect(await gather(readContacts(path, { onInvalid }))).toEqual([]);
      const fix = "format the column as text or as a number without decimals, and export the file again";
      expect(errors).toEqual([
        `${path} line 2: phone: a spreadsheet has shortened this number to ${cell}; ${fix}`,
        `${path} line 3: customFields.a: a spreadsheet has shortened this number to ${cell}; ${fix}`,
      ]);
      const types = { phone: "text", a: "text" } as const;
      expect(await gather(readContacts(path, { types }))).toEqual([
        { email: "a@b.co", phone: cell, customFields: { a: "x" } },
        { email: "a@b.co", phone: "1", customFields: { a: cell } },
      ]);
    },
  );

  test("a shortened number that the service has is written so that it is read back", async () => {
    const contact = { email: "a@b.co", phone: "4.91701E+11", customFields: { a: "1E+05", b: 1e21 } };
    const path = scratch().path("a.csv");
    await writeCsv(path, [contact]);
    expect(await gather(readContacts(path))).toEqual([contact]);
  });

  test.each([
    ["3", z.object({ a: z.string() }), "3"],
    ['"3"', z.object({ a: z.number() }), 3],
    ['"a;b"', z.object({ a: z.array(z.string()) }), ["a", "b"]],
    ["x", z.object({ a: z.number() }), "x"],
  ])("where the schema wants another kind, %s is read as that, if it can be", async (cell, schema, value) => {
    expect(await fieldsOf(cell, schema)).toEqual(value);
  });

  test.each(["$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "$date", "$oid"])(
    "a value of MongoDB such as %s is refused with a command that converts it",
    async (name) => {
      const faulty = { email: "a@b.co", customFields: { plan: [{ [name]: "12.50" }] } };
      const good = { email: "a@b.co", customFields: { text: JSON.stringify({ [name]: "1" }), a: { $x: 1 } } };
      const path = scratch().put("a.json", [faulty, good].map((row) => `${JSON.stringify(row)}\n`).join(""));
      const errors: string[] = [];
      const onInvalid = ({ error }: InvalidLine) => void errors.push(error.message);
      expect(await gather(readContacts(path, { onInvalid }))).toEqual([good]);
      // The output of jq 1.6 with this filter has the text "12.50" in place of the object.
      const filter =
        'walk(if type == "object" and length == 1 and (keys[0] | startswith("$")) then .[] else . end)';
      expect(errors).toEqual([
        `${path} line 1: ${name} shows a type of MongoDB, and would become an object. Convert the file: jq -c '${filter}' ${path} > records.ndjson`,
      ]);
      expect(await gather(readNdjson(path))).toEqual([faulty, good]);
    },
  );

  test("a name with .json is NDJSON", async () => {
    const path = scratch().put("a.json", '{"email":"a@b.co"}\n{"email":"c@d.co"}\n');
    expect(await gather(readContacts(path))).toEqual([{ email: "a@b.co" }, { email: "c@d.co" }]);
  });

  test("a name that does not tell the format is refused at the call", () => {
    expect(() => readContacts("contacts.dat")).toThrow(
      "the file name must end in .csv, .tsv, .txt or .ndjson",
    );
  });

  test("custom fields of every kind are read as they were written, under every delimiter", async () => {
    const { path } = scratch();
    const text = fc.string({
      unit: fc.constantFrom(
        "a",
        "1",
        "0",
        ".",
        "-",
        ";",
        ",",
        "'",
        '"',
        "[",
        "]",
        "{",
        "}",
        "=",
        "\n",
        " ",
        "e",
        "+",
      ),
      minLength: 1,
    });
    const list = fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 3 });
    const value = fc.oneof(text, fc.constantFrom("true", "false", "null"), fc.integer(), fc.boolean(), list);
    const contacts = fc.array(
      fc.record({ email: fc.constant("a@b.co"), customFields: fc.record({ a: value, b: value }) }),
    );
    await fc.assert(
      fc.asyncProperty(contacts, fc.constantFrom(",", ";", "\t"), async (records, delimiter) => {
        await writeCsv(path("out.csv"), records, { delimiter });
        expect(await gather(readContacts(path("out.csv"), { delimiter }))).toEqual(records);
      }),
      { numRuns: 200 },
    );
  });

  test("blanks at the ends of a list stay in it", async () => {
    const { path } = scratch();
    const records = [
      ["a", " "],
      [" a", "b"],
      ["a ", "b"],
    ].map((tags) => ({ email: "a@b.co", customFields: { tags } }));
    await writeCsv(path("out.csv"), records);
    expect(await gather(readContacts(path("out.csv")))).toEqual(records);
  });

  test("a list of objects is read as one, however late its record comes", async () => {
    const { path } = scratch();
    const contact = { email: "a@b.co", customFields: { orders: [{ id: 1, tags: ["x;y"] }, {}] } };
    await writeCsv(path("out.csv"), Array(1_100).fill(contact));
    expect(new Set((await gather(readContacts(path("out.csv")))).map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify(contact)]),
    );
  });

  test.each(["csv", "ndjson"])(
    "written, read and imported, a workspace changes in nothing: %s",
    async (ending) => {
      const { path } = scratch();
      const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
      const client = new Client({
        apiKey: "key",
        baseUrl: "http://localhost",
        fetch: sandbox.fetch,
        limits: false,
      });
      for (const [at, seats] of [3, "3", true, "true", ["a"], "a;b", "[1]", "-1", ["a", "b"]].entries())
        await client.contacts.create({
          email: `p${at}@example.com`,
          phone: "+44 20",
          notes: "=1",
          customFields: { seats },
        });
      const before = structuredClone(sandbox.state.contacts);
      const file = path(`out.${ending}`);
      if (ending === "csv") await writeCsv(file, client.contacts.list());
      else await writeNdjson(file, client.contacts.list());
      const report = await client.contacts.import(readContacts(file));
      expect(report).toMatchObject({ read: 9, unchanged: 9 });
      expect(sandbox.state.contacts).toEqual(before);
      await client.close();
    },
  );
});

const readFile = (text: string, options: object = {}) =>
  gather(readContacts(inPieces(text, 5), { format: "csv", ...options }));

test("null of a database is an empty cell where it is not quoted, in joined columns too", async () => {
  const columns = { "First+Last": "name" };
  expect(
    await readFile('email,First,Last,phone\na@b.co,\\N,Doe,NULL\nb@b.co,Ann,null,"NULL"\n', { columns }),
  ).toEqual([
    { email: "a@b.co", name: "Doe" },
    { email: "b@b.co", name: "Ann", phone: "NULL" },
  ]);
});

test("a cell with 300,000 blanks in its middle does not keep the reader busy until the test times out", async () => {
  const notes = `x${" ".repeat(300_000)}y`;
  expect(await readFile(`email,notes\na@b.co,"${notes}"\nb@b.co,${notes}\n`)).toEqual([
    { email: "a@b.co", notes },
    { email: "b@b.co", notes },
  ]);
});

test("texts that look like null are written so that they are read as texts", async () => {
  const { path } = scratch();
  const contacts = ["\\N", "NULL", "null"].map((name) => ({ email: "a@b.co", name, customFields: { name } }));
  await writeCsv(path("out.csv"), contacts);
  expect(await gather(readContacts(path("out.csv")))).toEqual(contacts);
});

test("texts with invisible characters at their ends are written so that they are read as texts", async () => {
  const { path } = scratch();
  const contacts = ["\u200BAnn", "Ann\u200B", "12\u200B", "\u200BNULL", "\uFEFFAnn"].map((name) => ({
    ...{ name, email: "a@b.co", customFields: { name } },
  }));
  await writeCsv(path("out.csv"), contacts);
  expect(await gather(readContacts(path("out.csv")))).toEqual(contacts);
});

test("columns named like the members of every object are read like all others", async () => {
  const { path } = scratch();
  const contacts = [{ email: "a@b.co", customFields: { constructor: "Ann", toString: 3, valueOf: "4" } }];
  await writeCsv(path("out.csv"), contacts);
  expect(await gather(readContacts(path("out.csv")))).toEqual(contacts);
  expect(await readFile("email,constructor\na@b.co,Ann\n")).toEqual([
    { email: "a@b.co", constructor: "Ann" },
  ]);
});

test.each(["cast", "emptyCells"])(
  "the option %s of readCsv is refused, because readContacts decides on it",
  (option) => {
    const value = option === "cast" ? String : "null";
    expect(() => readContacts("a.csv", { [option]: value })).toThrow(`there is no option "${option}"`);
  },
);

test("a text in a formula is no number of a custom field", async () => {
  expect(await readFile('email,customFields.a,customFields.b\na@b.co,="12",12\n')).toEqual([
    { email: "a@b.co", customFields: { a: "12", b: 12 } },
  ]);
});

describe("in files that were joined", () => {
  test("the header again is a bad line", async () => {
    const lines: number[] = [];
    const onInvalid = ({ line }: { line: number }) => void lines.push(line);
    const text = "E-mail,Name\na@b.co,Ann\n\uFEFFE-mail,Name\nb@b.co,Bob\n";
    expect(await readFile(text, { columns: { "E-mail": "email" }, onInvalid })).toEqual([
      { email: "a@b.co", name: "Ann" },
      { email: "b@b.co", name: "Bob" },
    ]);
    expect(lines).toEqual([3]);
    await expect(readFile(text, { columns: { "E-mail": "email" } })).rejects.toThrow(
      "this is the header again",
    );
  });

  test.each(["EMAIL,Phone,Name", " Email ,phone,name", "e_mail,phone,name"])(
    "another header that spells the address differently ends the reading, too: %s",
    async (header) => {
      await expect(readFile(`email,name,phone\na@b.co,Ann,1\n${header}\nb@b.co,2,Bob\n`, {})).rejects.toThrow(
        "input line 3: this line is a second header with other columns",
      );
    },
  );

  test("the header again in capitals is a bad line", async () => {
    const records = [{ email: "a@b.co" }, { email: "b@b.co" }];
    const text = "email\na@b.co\nEMAIL\nb@b.co\n";
    expect(await readFile(text, { onInvalid: () => undefined })).toEqual(records);
  });

  test("a header with the field's own name is found under a column that was mapped to the field", async () => {
    const text = "Mail,name\na@b.co,Ann\nemail,phone\nb@b.co,2\n";
    const columns = { Mail: "email" };
    await expect(readFile(text, { columns })).rejects.toThrow("input line 3: this line is a second header");
  });

  test("an empty cell under a column without a name is no second header", async () => {
    const columns = { "": "email" };
    expect(await readFile(",name\na@b.co,Ann\n,Bob\n", { columns })).toEqual([
      { email: "a@b.co", name: "Ann" },
      { name: "Bob" },
    ]);
  });

  test("the error about another header also has advice for a line that is no header", async () => {
    const columns = { "E-mail": "email", Note: "notes" };
    await expect(readFile("E-mail,Note\nemail,text\na@b.co,x\n", { columns })).rejects.toThrow(
      "import each part separately. If the line is not a header, delete it",
    );
  });

  test("another header ends the reading: its rows have other columns", async () => {
    const read = readContacts(inPieces("email,name,phone\na@b.co,Ann,1\nemail,phone\nb@b.co,2\n", 5), {
      format: "csv",
      onInvalid: () => undefined,
    });
    expect(await read.next()).toMatchObject({ value: { email: "a@b.co", name: "Ann", phone: "1" } });
    await expect(read.next()).rejects.toThrow(
      "input line 3: this line is a second header with other columns",
    );
  });
});
