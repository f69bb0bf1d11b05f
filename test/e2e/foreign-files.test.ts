import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Listening } from "../../src/sandbox/index.ts";
import { startCli } from "../support/cli.ts";

// The shapes in which people have files, over the command as it is built.
const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
let server: Listening;
let folder = "";
beforeAll(async () => {
  server = await sandbox.listen();
  folder = await mkdtemp(join(tmpdir(), "touchpoint-foreign-"));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const bom = "\uFEFF";
const utf16 = Buffer.from(`${bom}email\tname\r\nada@x.example\tAda\r\n`, "utf16le");
const crm = `${bom}Record ID,First Name,Last Name,Email,Phone Number\n"1",Ada,L,ada@x.example,+44\n`;
const planned = /"email":"ada@x\.example","result":"create"/;

/** The file, the exit code, what is said, and options. */
type Shape = [name: string, content: string | Buffer, code: number, says: RegExp, ...options: string[]];

const shapes: Shape[] = [
  ["crm.csv", crm, 2, /--map 'Phone Number=phone' --map 'First Name\+Last Name=name' --map '\*='/],
  ["crm.csv", crm, 0, planned, "--map", "First Name+Last Name=name", "--map", "*="],
  ["capitals.csv", "EMAIL , Name\nada@x.example,Ada\n", 0, planned],
  ["utf16.txt", utf16, 0, planned],
  [
    "latin.csv",
    Buffer.from("email,name\nada@x.example,Zo\xeb\n", "latin1"),
    3,
    /encoding, for example windows-1252/,
  ],
  [
    "latin.csv",
    Buffer.from("email,name\nada@x.example,Zo\xeb\n", "latin1"),
    0,
    planned,
    "--encoding",
    "windows-1252",
  ],
  ["quote.csv", "email,notes\nada@x.example,37°36'37.8\"N\n", 0, planned],
  ["short.csv", "email,name,phone\nada@x.example\n", 0, planned],
  ["long.csv", "email\nada@x.example,x\n", 3, /this row has 2 cells, but the header has 1 column/],
  ["workbook.csv", "PK\u0003\u0004", 2, /is an Excel workbook .* save it as "CSV UTF-8"/],
  ["page.csv", "<!doctype html>", 2, /is a web page/],
  ["paper.csv", "%PDF-1.7", 2, /is a PDF/],
  ["old.csv", Buffer.from("d0cf11e0a1b11ae1", "hex"), 2, /is an old Excel workbook/],
  ["header.csv", "Company,City\n", 2, /are not fields of a contact/],
  ["list.ndjson", '[{"email":"ada@x.example"}]', 2, /this is a JSON array.*jq -c '\.\[\]'/],
  ["notes.csv", "Our contacts\n\nemail,name\nada@x.example,Ada\n", 2, /--skip-lines 2 /],
  ["notes.csv", "Our contacts\n\nemail,name\nada@x.example,Ada\n", 0, planned, "--skip-lines", "2"],
  ["sep.csv", "sep=;\nemail;name\nada@x.example;Ada\n", 0, planned],
  ["link.csv", "email\nmailto:ada@x.example\n", 3, /not a mailto: link/],
  ["returns.csv", "email,name\rada@x.example,Ada\r", 0, planned],
  ["blank.csv", " \t\n,\nemail,name\nada@x.example,Ada\n,\n", 0, planned],
  ["hidden.csv", "email,\u200bname\nada@x.example,Ada\n", 0, planned],
  ["flags.csv", "email,verified\nada@x.example,TRUE\n", 0, planned],
  ["dots.csv", "email,Phone.1\nada@x.example,1\n", 0, planned, "--map", "Phone.1=phone"],
  ["typed.csv", 'email,customFields.score\nada@x.example,"250"\n', 0, planned, "--types", "score=number"],
];

test.each<Shape>(shapes)("%s %j ends with %i and %s", async (name, content, code, says, ...options) => {
  await writeFile(join(folder, name), content);
  const env = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "key" };
  const { ended, stdout, stderr } = await startCli(["contacts", "import", name, "--plan", ...options], {
    cwd: folder,
    env,
  }).ended;
  expect([ended, stdout + stderr]).toEqual([code, expect.stringMatching(says)]);
});
