import { describe, expect, test } from "vitest";
import { type Command, readArgs } from "../../../src/cli/args.ts";

const exitCodes =
  "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some records were rejected or something differs, 130 interrupted.";

const contactsExport: Command = {
  name: "contacts export",
  about: "Writes every contact to a file",
  operands: ["<file>", "[log]"],
  options: {
    "-s, --search <text>": "only contacts that match",
    "--column <path>": "a column",
    "--quiet": "no progress",
  },
};
const contactsImport: Command = {
  name: "contacts import",
  about: "Upserts contacts\nThe second line is for the command's own help",
  operands: [],
  options: {},
};
const sandbox: Command = { name: "sandbox", about: "Serves the sandbox", operands: [], options: {} };
const commands = [sandbox, contactsExport, contactsImport];

const read = (line: string) => readArgs(commands, line.split(" ").filter(Boolean));

describe("readArgs", () => {
  test("gives the command, its options and its operands", () => {
    expect(read("contacts export out.csv -s ann --column a --quiet")).toEqual({
      kind: "run",
      command: contactsExport,
      values: { search: "ann", column: "a" },
      lists: {},
      flags: new Set(["quiet"]),
      operands: ["out.csv"],
    });
  });

  test("a command of one word, and operands that may be left out or given", () => {
    expect(read("sandbox")).toMatchObject({ kind: "run", command: sandbox, operands: [] });
    expect(read("contacts export a b")).toMatchObject({ operands: ["a", "b"] });
  });

  test.each(["", "help", "--help", "-h"])("%j lists the commands", (line) => {
    expect(read(line)).toEqual({
      kind: "help",
      text: [
        "touchpoint <command> [options]",
        "",
        "  sandbox          Serves the sandbox",
        "  contacts export  Writes every contact to a file",
        "  contacts import  Upserts contacts",
        "",
        "Set TOUCHPOINT_API_KEY to the API key and TOUCHPOINT_BASE_URL to the address of the service.",
        "Run `touchpoint <command> --help` for the options of a command.",
        "",
        exitCodes,
      ].join("\n"),
    });
  });

  test("--help of a command lists its options, whatever else is missing", () => {
    expect(read("contacts export --help")).toEqual({
      kind: "help",
      text: [
        "touchpoint contacts export <file> [log] [options]",
        "",
        "Writes every contact to a file",
        "",
        "  -s, --search <text>  only contacts that match",
        "      --column <path>  a column",
        "      --quiet          no progress",
        "  -h, --help           this help",
        "",
        exitCodes,
      ].join("\n"),
    });
  });

  test("on a terminal the help fits its width, with hanging indents, and shows an example", () => {
    const wide = { ...contactsImport, example: "touchpoint contacts import people.csv" };
    const shown = readArgs([contactsExport, wide], ["contacts", "import", "--help"], 40);
    expect(shown).toMatchObject({
      text: expect.stringMatching(
        /line is for\nthe command's own help\n\nExample: touchpoint contacts import people\.csv\n\n/,
      ),
    });
    expect(readArgs([contactsExport], ["help"], 40)).toMatchObject({
      text: expect.stringContaining(
        "  contacts export  Writes every contact\n                   to a file\n",
      ),
    });
  });

  test("--version", () => {
    expect(read("--version")).toEqual({ kind: "version" });
  });
});

describe("a wrong command line says why and how it is typed", () => {
  const usage = "\nUsage: touchpoint contacts export <file> [log] [options]";
  test.each([
    ["contacts export", `touchpoint: <file> is missing${usage}`],
    ["contacts export a b c", `touchpoint: "c" is one argument too many${usage}`],
    [
      "contacts export a --serach x",
      `touchpoint: Unknown option '--serach' (did you mean "--search"?)${usage}`,
    ],
    ["contacts export a --nothing x", `touchpoint: Unknown option '--nothing'${usage}`],
    ["contacts export a --quit", `touchpoint: Unknown option '--quit' (did you mean "--quiet"?)${usage}`],
    ["contacts export a --search", `touchpoint: Option '-s, --search <value>' argument missing${usage}`],
    [
      "contacts export a --search -1",
      "touchpoint: Option '--search' argument is ambiguous. Did you forget to specify the option argument for " +
        `'--search'? To specify an option argument starting with a dash use '--search=-XYZ'.${usage}`,
    ],
  ])("%s", (line, text) => {
    expect(read(line)).toEqual({ kind: "wrong", text });
  });

  test("an unknown command is answered with the nearest one and where the commands are listed", () => {
    expect(read("contact export")).toEqual({
      kind: "wrong",
      text:
        'touchpoint: there is no command "contact" (did you mean "contacts export"?)\n' +
        "Run `touchpoint --help` for the list of commands.",
    });
    expect(read("contacts list")).toEqual({
      kind: "wrong",
      text: 'touchpoint: there is no command "contacts list"\nRun `touchpoint --help` for the list of commands.',
    });
  });

  test("control characters in arguments do not reach the terminal", () => {
    expect(readArgs(commands, ["a\u001b[2J\nb"])).toMatchObject({
      text: expect.stringContaining('"a\\u001b[2J\\u000ab"\n'),
    });
  });

  test.each([
    ["contcts exprt", "contacts export"],
    ["contacts imports", "contacts import"],
    ["sandbx", "sandbox"],
  ])("%s: did you mean %s?", (line, meant) => {
    expect(read(line)).toMatchObject({ text: expect.stringContaining(`" (did you mean "${meant}"?)\n`) });
  });

  test("a word is never suggested for itself", () => {
    expect(read("contacts")).toMatchObject({
      text: expect.stringMatching(
        /^touchpoint: there is no command "contacts" \(did you mean "contacts export"\?\)\nRun `touchpoint --help` for the list/,
      ),
    });
  });

  test("a word that differs by more than two letters gets no suggestion", () => {
    expect(read("sandpaper")).toMatchObject({ text: expect.not.stringContaining("did you mean") });
  });
});
