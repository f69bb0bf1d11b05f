import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { run } from "../../../src/cli/run.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { scratch } from "../files/scratch.ts";

const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
let server: Awaited<ReturnType<typeof sandbox.listen>>;
beforeAll(async () => {
  server = await sandbox.listen();
});
afterAll(() => server.close());
afterEach(() => {
  vi.unstubAllEnvs();
  sandbox.reset();
});

/** Imports a file; returns what a person sees, and the contacts that there are then. */
const imported = async (name: string, content: string | Buffer, ...options: readonly string[]) => {
  vi.stubEnv("TOUCHPOINT_API_KEY", "key");
  vi.stubEnv("TOUCHPOINT_BASE_URL", server.url);
  const path = scratch().put(name, content);
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(["contacts", "import", path, ...options], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupt: new AbortController().signal,
    now: () => performance.now(),
  });
  const contacts = sandbox.state.contacts.map(({ email, name, phone, customFields }) => ({
    ...{ email, ...(name !== undefined && { name }), ...(phone !== undefined && { phone }) },
    ...(Object.keys(customFields).length > 0 && { customFields }),
  }));
  return { code, contacts, out: out.join(""), err: err.join("").replaceAll(path, name) };
};

const ada = { email: "ada@x.example", name: "Ada" };
const bob = { email: "bob@x.example", name: "Bob" };
const utf16 = (text: string, bigEndian = false): Buffer => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return bigEndian ? bytes.swap16() : bytes;
};

test.each<[string, string, string | Buffer, ...string[]]>([
  ["capitals", "a.csv", "EMAIL,NAME\nada@x.example,Ada\nbob@x.example,Bob\n"],
  ["blanks beside names and cells", "a.csv", "Email , Name\nada@x.example , Ada\nbob@x.example,\u00a0Bob\n"],
  [
    "invisible characters in names",
    "a.csv",
    "\uFEFFemail,\u200bname\nada@x.example,Ada\nbob@x.example,Bob\n",
  ],
  ["UTF-16, tabs", "a.txt", utf16("email\tname\r\nada@x.example\tAda\r\nbob@x.example\tBob\r\n")],
  ["UTF-16 big endian", "a.tsv", utf16("email\tname\nada@x.example\tAda\nbob@x.example\tBob", true)],
  ["semicolons", "a.csv", "email;name\nada@x.example;Ada\nbob@x.example;Bob\n"],
  ["sep=", "a.csv", '"sep=;"\nemail;name\nada@x.example;Ada\nbob@x.example;Bob\n'],
  ["carriage returns", "a.csv", "email,name\rada@x.example,Ada\rbob@x.example,Bob\r"],
  ["mixed line ends", "a.csv", "email,name\r\nada@x.example,Ada\rbob@x.example,Bob\n"],
  [
    "lines of blanks and delimiters",
    "a.csv",
    " \t\n,,\nemail,name\n\nada@x.example,Ada\n , \nbob@x.example,Bob\n,\n",
  ],
  ["empty cells at the end", "a.csv", "email,name,\nada@x.example,Ada,,,\nbob@x.example,Bob\n"],
  [
    "blanks after a closing quote",
    "a.csv",
    '"email" ,"name" \n"ada@x.example" ,"Ada"\n"bob@x.example","Bob"\n',
  ],
  ["pipes", "a.csv", "email|name\nada@x.example|Ada\nbob@x.example|Bob\n"],
  ["nulls of a database", "a.tsv", "email\tname\tphone\nada@x.example\tAda\t\\N\nbob@x.example\tBob\t\\N\n"],
  ["gzip of UTF-16", "a.csv.gz", gzipSync(utf16("email,name\nada@x.example,Ada\nbob@x.example,Bob\n"))],
  [
    "a preamble",
    "a.csv",
    "Our contacts\n\nemail,name\nada@x.example,Ada\nbob@x.example,Bob\n",
    "--skip-lines",
    "1",
  ],
])("a file with %s is read", async (_shape, name, content, ...options) => {
  const { code, contacts, err } = await imported(name, content, ...options);
  expect({ code, contacts, err: code === 0 ? "" : err }).toEqual({ code: 0, contacts: [ada, bob], err: "" });
});

test("an export of another CRM is refused with a command, and the command imports it", async () => {
  const content =
    '\uFEFFRecord ID,First Name,Last Name,Email,Tel.,Phone.1\n"1",Ada,L,ada@x.example,+44,\n"2",Bob,,bob@x.example,,\n';
  const { code, err } = await imported("crm.csv", content);
  expect([code, err]).toEqual([
    2,
    'touchpoint: crm.csv: "Record ID", "First Name", "Last Name", "Tel." and 1 more are not fields of a contact. To map the columns that are recognized and leave out the others, run\n' +
      "\ntouchpoint contacts import crm.csv --map 'Tel.=phone' --map 'First Name+Last Name=name' --map '*='\n\n" +
      "Run `touchpoint contacts import --help` for details.\n",
  ]);
  const options = ["--map", "Tel.=phone", "--map", "First Name+Last Name=name", "--map", "*="];
  expect((await imported("crm.csv", content, ...options)).contacts).toEqual([
    { email: "ada@x.example", name: "Ada L", phone: "+44" },
    { email: "bob@x.example", name: "Bob" },
  ]);
});

test("an encoding is named for a file without a byte order mark", async () => {
  const content = Buffer.from("email,name\nada@x.example,Zo\xeb\n", "latin1");
  const refused = await imported("a.csv", content);
  expect([refused.code, refused.err]).toEqual([
    3,
    expect.stringContaining(
      "not UTF-8 text; save the file as UTF-8, or set its encoding, for example windows-1252",
    ),
  ]);
  const { contacts } = await imported("a.csv", content, "--encoding", "windows-1252");
  expect(contacts).toEqual([{ email: "ada@x.example", name: "Zoë" }]);
  expect(await imported("a.csv", content, "--encoding", "cp850")).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      'encoding must be one that this runtime supports, for example windows-1252, got "cp850". Convert the file: iconv -f cp850 -t utf-8 FILE > utf8.csv',
    ),
  });
});

test("UTF-8 is not read in another encoding", async () => {
  const ascii = `email,name\n${"ada@x.example,Ada\n".repeat(10_000)}`;
  for (const text of ["email,name\nada@x.example,Müller\n", `${ascii}bob@x.example,日本\n`])
    for (const encoding of ["windows-1252", "iso-8859-15", "macintosh"])
      expect(await imported("a.csv", text, "--encoding", encoding, "--plan")).toMatchObject({
        code: 2,
        err: expect.stringContaining(`a.csv is UTF-8 text, not ${encoding}. Remove the encoding`),
      });
  const { code, contacts } = await imported(
    "a.csv",
    "email,name\nada@x.example,Ada\n",
    "--encoding",
    "latin1",
  );
  expect([code, contacts]).toEqual([0, [ada]]);
});

test.each([
  ["a.csv", "email,name\nada@x.example,M\x81ller\nbob@x.example,Bob\n"],
  ["a.csv", 'email,name\nada@x.example,"M\x81ller"\nbob@x.example,Bob\n'],
  ["a.ndjson", '{"email":"ada@x.example","name":"M\x81ller"}\n{"email":"bob@x.example","name":"Bob"}\n'],
])("a line of %s with characters that only a wrong encoding gives is refused: %j", async (name, text) => {
  const bytes = Buffer.from(text, "latin1");
  expect(await imported(name, bytes, "--encoding", "windows-1252")).toMatchObject({
    code: 3,
    contacts: [bob],
    err: expect.stringContaining("control characters: its encoding seems to be another than you have set"),
  });
});

test("a quote inside a cell is a quote, booleans have any case, and types are given", async () => {
  const content =
    'email,customFields.at,customFields.vip,customFields.score,customFields.zip\nada@x.example,37°36\'37.8"N,TRUE,"250",0123\n';
  const { contacts } = await imported("a.csv", content, "--types", "score=number,zip=text");
  expect(contacts).toEqual([
    { email: "ada@x.example", customFields: { at: "37°36'37.8\"N", vip: true, score: 250, zip: "0123" } },
  ]);
});

const magic = "PK\u0003\u0004";
test.each<[string, string | Buffer, string]>([
  ["a.csv", magic, "is an Excel workbook or another ZIP file, not a text file"],
  ["a.csv", Buffer.from("d0cf11e0a1b11ae100", "hex"), "is an old Excel workbook (.xls), not a text file"],
  ["a.csv", "%PDF-1.7\n", "is a PDF, not a text file"],
  ["a.csv", "\n<!DOCTYPE html>\n<html></html>", "is a web page, not a text file"],
  ["a.csv", '<?xml version="1.0"?>', "is an XML file, not a text file"],
  ["a.csv", "{\\rtf1\\ansi", "is a rich text document (RTF), not a text file"],
  ["a.csv", Buffer.from("email\nada@x.example\n", "utf16le"), "is not UTF-8 text: it has NUL bytes"],
  [
    "a.ndjson",
    '[{"email":"ada@x.example"},\n{"email":"bob@x.example"}]',
    "jq -c '.[]' a.ndjson > records.ndjson",
  ],
  ["a.ndjson", '{\n  "email": "ada@x.example"\n}\n', "jq -c '.' a.ndjson > records.ndjson"],
  ["a.csv", Buffer.from("504b050600", "hex"), "is an empty ZIP file, not a text file"],
  ["a.csv", Buffer.from("377abcaf271c0004", "hex"), "is a 7z archive, not a text file"],
  ["a.csv", Buffer.from("526172211a0700", "hex"), "is a RAR archive, not a text file"],
  ["a.csv", Buffer.from("425a68363141592653590000", "hex"), "is packed by bzip2, not a text file"],
  ["a.csv", Buffer.from("fd377a585a0000", "hex"), "is packed by xz, not a text file"],
  ["a.csv", Buffer.from("28b52ffd0458", "hex"), "is packed by zstd, not a text file"],
  ["a.csv.gz", gzipSync(gzipSync("email\nada@x.example\n")), "is packed by gzip twice, not a text file"],
  ["a.csv", Buffer.from("89504e470d0a1a0a", "hex"), "is an image, not a text file"],
  ["a.csv", Buffer.from("ffd8ffe000104a46", "hex"), "is an image, not a text file"],
  ["a.csv", "BEGIN:VCARD\nVERSION:3.0\n", "is an address book (vCard), not CSV"],
  ["a.csv", "ID;PWXL;N;E\nC;Y1;X1\n", "is a SYLK file, not CSV"],
  ["a.csv", "<table><tr><td>email</td></tr></table>", "is a web page, not a text file"],
  ["a.csv", '<meta charset="utf-8">', "is a web page, not a text file"],
  ["a.csv", '[{"email":"ada@x.example"}]', "this is JSON, not CSV"],
  ["a.tsv", '{"email":"ada@x.example"}\n', "this is JSON, not CSV"],
  ["a.ndjson", "email,name\nada@x.example,Ada\n", "this looks like CSV, not NDJSON"],
  ["a.ndjson", '"email";"name"\n"ada@x.example";"Ada"\n', "this looks like CSV, not NDJSON"],
  ["a.ndjson", "E-mail 1 - Value,First Name\nada@x.example,Ada\n", "this looks like CSV, not NDJSON"],
  ["a.ndjson", "email|name\nada@x.example|Ada\n", "this looks like CSV, not NDJSON"],
  ["a.ndjson", "Email\nada@x.example\n", "this looks like CSV, not NDJSON"],
  ["a.csv", '["ada@x.example","bob@x.example"]', "this is JSON, not CSV"],
  ["a.csv", '[["ada@x.example"]]', "this is JSON, not CSV"],
  ["a.csv", "<tr><td>email</td></tr>", "is a web page, not a text file"],
  ["a.csv", "<!-- saved -->\n<p>Sign in</p>", "is a web page, not a text file"],
  ["a.csv", utf16("<html><body>Sign in</body></html>"), "is a web page, not a text file"],
  ["a.csv", utf16("BEGIN:VCARD\n", true), "is an address book (vCard), not CSV"],
  ["a.csv", "ID;PCALCOOO32\n", "is a SYLK file, not CSV"],
  ["a.csv", "", "a.csv: the file is empty. A CSV file must start with a header"],
  ["a.csv", " \n,,\n", "a.csv: the file is empty. A CSV file must start with a header"],
  ["a.txt", "ada@x.example\nbob@x.example\n", "the file has no header. Add a header as its first line"],
  [
    "a.xlsx",
    magic,
    "a.xlsx is an Excel workbook or another ZIP file, not a text file. In the spreadsheet, save it",
  ],
  [
    "a.json",
    "[]",
    "this is a JSON array, but each line must contain one record. Convert it: jq -c '.[]' a.json",
  ],
  ["a.json", '{\n  "email": "ada@x.example"\n}\n', "jq -c '.' a.json > records.ndjson"],
  ["a.vcf", "BEGIN:VCARD", "a.vcf is an address book (vCard), not CSV. Export the address book as CSV"],
  ["a.csv", "Company,City\n", '"Company", "City" are not fields of a contact'],
  ["a.csv", "email,Email\nada@x.example,x\n", 'Leave one of them out: --map "Email="'],
  ["a.csv", "email,email\nada@x.example,x\n", "email appears twice"],
])("%s of %j is wrong usage: %s", async (name, content, message) => {
  const { code, err, contacts } = await imported(name, content);
  expect([code, err, contacts]).toEqual([2, expect.stringContaining(message), []]);
});

test("a byte order mark counts more than the encoding that is given", async () => {
  const content = "email,name\nada@x.example,Zo\u00eb\n";
  for (const bytes of [utf16(content), utf16(content, true), Buffer.from(`\uFEFF${content}`)]) {
    const { contacts } = await imported("a.csv", bytes, "--encoding", "windows-1252");
    expect(contacts).toEqual([{ email: "ada@x.example", name: "Zo\u00eb" }]);
    sandbox.reset();
  }
});

test("a NUL in one cell is a character of that cell alone", async () => {
  const { code, contacts } = await imported(
    "a.csv",
    "email,name\nada@x.example,Ada\nbob@x.example,B\u0000b\n",
  );
  expect([code, contacts]).toEqual([0, [ada, { email: "bob@x.example", name: "B\u0000b" }]]);
});

test("a proposed command keeps the other options", async () => {
  const content = Buffer.from("E-Mail/Vorname/Stra\xdfe\nada@x.example/Zo\xeb/x\n", "latin1");
  const options = ["--encoding", "windows-1252", "--delimiter", "/", "--types", "zip=text"];
  const { err } = await imported("a.csv", content, ...options);
  expect(err).toContain(
    "touchpoint contacts import a.csv --encoding windows-1252 --delimiter / --types 'zip=text' --map 'Vorname=name' --map '*='",
  );
});

test("a proposed command names columns by the given delimiter, and reads quoted names", async () => {
  const content = 'Our people\n"Name, and more"/E-mail/Vorname\nx/ada@x.example/Ada\n';
  expect((await imported("a.csv", content, "--delimiter", "/")).err).toContain(
    "import a.csv --delimiter / --skip-lines 1 --map 'Vorname=name' --map '*='",
  );
  const quoted = 'Our people\n"Company, Inc.",E-mail,First Name\n';
  const { err } = await imported("a.csv", quoted);
  expect(err).toContain("--map 'First Name=name' --map '*='");
});

test.each(["rar!", "gif8", "bzh", "par1", "pk"])(
  "a column whose name begins with %s is text",
  async (name) => {
    const { code, contacts } = await imported(
      "a.csv",
      `${name},email\nx,ada@x.example\n`,
      "--map",
      `${name}=name`,
    );
    expect([code, contacts]).toEqual([0, [{ email: "ada@x.example", name: "x" }]]);
  },
);

test("a file with lines above its header is shown, and the command skips them", async () => {
  const content =
    "Contacts of ACME;;\nExported on;2026-03-01;\n\nE-Mail;Vorname;Nachname\nada@x.example;Ada;\n";
  const { code, err } = await imported("a.csv", content);
  expect(code).toBe(2);
  const lines =
    "  1  Contacts of ACME;;\n  2  Exported on;2026-03-01;\n  3  \n  4  E-Mail;Vorname;Nachname\n";
  const options = ["--skip-lines", "3", "--map", "Vorname+Nachname=name", "--map", "*="];
  const command = "touchpoint contacts import a.csv --skip-lines 3 --map 'Vorname+Nachname=name' --map '*='";
  expect(err).toContain(lines);
  expect(err).toContain(command);
  expect((await imported("a.csv", content, ...options)).contacts).toEqual([ada]);
});

test("the command for a file with lines above its header reads either order of UTF-16", async () => {
  const content = "Our people\nE-mail,Vorname\nada@x.example,Ada\n";
  for (const bytes of [utf16(content), utf16(content, true)])
    expect((await imported("a.csv", bytes)).err).toContain(
      "import a.csv --skip-lines 1 --map 'Vorname=name' --map '*='",
    );
});

test.each([
  ["a.csv", "email,name\nada@x.example,Ada,extra\n", "this row has 3 cells, but the header has 2 columns"],
  [
    "a.csv",
    "email\nmailto:ada@x.example\n",
    "must be one email address such as ada@example.com, not a mailto: link",
  ],
  [
    "a.ndjson",
    '{"email":"ada@x.example","customFields":{"order":[1,-1234567890123456781]}}\n',
    "customFields.order[1]: -1234567890123456781 is too large for a JSON number; write it as text",
  ],
  [
    "a.csv",
    'email,customFields.order\nada@x.example,"[1234567890123456781]"\n',
    "customFields.order[0]: 1234567890123456781 is too large for a JSON number; write it as text",
  ],
])("a row of %s is refused: %j", async (name, content, message) => {
  const { code, err, contacts } = await imported(name, content);
  expect([code, err, contacts]).toEqual([3, expect.stringContaining(message), []]);
});

test("--rejected leaves a file that this command did not write as it is", async () => {
  const path = scratch().put("notes.txt", "my notes\n");
  const { code, err } = await imported("a.csv", "email\nx\n", "--rejected", path);
  expect([code, readFileSync(path, "utf8")]).toEqual([2, "my notes\n"]);
  expect(err).toContain("contains something other than rejected records, so it is not overwritten");
});

test("a plan is a table on a terminal, and NDJSON elsewhere", async () => {
  vi.stubEnv("TOUCHPOINT_API_KEY", "key");
  vi.stubEnv("TOUCHPOINT_BASE_URL", server.url);
  const path = scratch().put("a.csv", "email,name\nada@x.example,Ada\n");
  const outputs = [];
  const reports: string[] = [];
  for (const [isTerminal, ...more] of [[true], [true, "--json"], [false]] as const) {
    const out: string[] = [];
    await run(["contacts", "import", path, "--plan", ...more], {
      ...{ isTerminal, interrupt: new AbortController().signal, now: () => performance.now() },
      stdout: { write: (text) => out.push(text) },
      stderr: { write: (text) => reports.push(text.split("\n")[0] ?? "") },
    });
    outputs.push(out.join("").split("\n")[0]);
  }
  const row = '{"index":0,"line":2,"email":"ada@x.example","result":"create"}';
  expect(outputs).toEqual(["Create     1", row, row]);
  expect(reports.filter((line) => line.startsWith("Plan"))).toEqual([
    "Plan only: nothing was changed.",
    "Plan only: nothing was changed.",
  ]);
});

test.each([
  ["--map", "x=email"],
  ["--types", "score=number"],
  ["--skip-lines", "1"],
])("%s is refused with NDJSON, where it would do nothing", async (option, value) => {
  expect(await imported("a.ndjson", '{"email":"ada@x.example"}\n', option, value)).toMatchObject({
    code: 2,
    contacts: [],
    err: expect.stringContaining(`${option} works only with CSV`),
  });
});

test("fields of NDJSON that are no fields of a contact are named, once each", async () => {
  const line = '{"email":"ada@x.example","firstName":"Ada","customFields.plan":"pro"}\n';
  const { code, err } = await imported("a.ndjson", line + line);
  expect(code).toBe(0);
  expect(err.split("\n").filter((text) => text.includes("is not a field"))).toEqual([
    '"firstName" is not a field of a contact: the service may ignore it. Put it into customFields',
    '"customFields.plan" is not a field of a contact: the service may ignore it. Put it into customFields',
  ]);
});

test("a .json file of one record per line is read, as mongoexport writes it", async () => {
  const lines = `${JSON.stringify(ada)}\n${JSON.stringify(bob)}\n`;
  for (const [name, content] of [
    ["a.json", lines],
    ["a.json.gz", gzipSync(lines)],
  ] as const) {
    expect(await imported(name, content)).toMatchObject({ code: 0, contacts: [ada, bob] });
    sandbox.reset();
  }
});

test.each([
  ["a.csv", "ndjson", `${JSON.stringify(ada)}\n`],
  ["a.json", "csv", "email,name\nada@x.example,Ada\n"],
  ["a.numbers", "csv", "email,name\nada@x.example,Ada\n"],
  ["a.dat", "csv", "email,name\nada@x.example,Ada\n"],
])("of %s, --format %s sets the format", async (name, format, content) => {
  expect(await imported(name, content, "--format", format)).toMatchObject({ code: 0, contacts: [ada] });
  expect(await imported(name, content, "--format", "xml")).toMatchObject({
    code: 2,
    err: expect.stringContaining('--format must be csv or ndjson, got "xml"'),
  });
});

test("another delimiter in the header is named with the option for it", async () => {
  const { code, err } = await imported("a.csv", "email;name;notes, private\nada@x.example;Ada;x\n");
  expect([code, err]).toEqual([2, expect.stringContaining("separates the columns, add --delimiter ';'")]);
});

test("a proposed command keeps the columns that have the name of a field already", async () => {
  const content = "Email,name,customFields.plan,City\nada@x.example,Ada,pro,Rome\n";
  const { err } = await imported("a.csv", content);
  expect(err).toContain("\ntouchpoint contacts import a.csv --map '*='\n");
  for (const file of [content, content.replace("Email", "email")])
    expect((await imported("a.csv", file, "--map", "*=")).contacts).toEqual([
      { email: "ada@x.example", name: "Ada", customFields: { plan: "pro" } },
    ]);
  sandbox.reset();
  const work = content.replace("City", "Work email").replace("Rome", "work@x.example");
  expect((await imported("a.csv", work, "--map", "Work email=email", "--map", "*=")).contacts).toEqual([
    { email: "work@x.example", name: "Ada", customFields: { plan: "pro" } },
  ]);
  sandbox.reset();
  expect((await imported("a.csv", content, "--map", "name+City=name", "--map", "*=")).contacts).toEqual([
    { email: "ada@x.example", name: "Ada Rome", customFields: { plan: "pro" } },
  ]);
});
