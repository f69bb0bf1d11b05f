import ts from "typescript";
import { describe, expect, test } from "vitest";
import { programOf, root } from "../../scripts/api.ts";
import { entry } from "../../tsup.config.ts";
import { documents } from "../support/docs-pages.ts";

const program = programOf({ files: Object.values(entry) });
const checker = program.getTypeChecker();
const text = documents.map((document) => document.text).join("\n");

const exportsOf = (file: string): readonly ts.Symbol[] => {
  const source = program.getSourceFile(root + file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing`);
  return checker.getExportsOfModule(module);
};

const targetOf = (symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);

/** Functions, classes and constants; a schema goes by the name of its type, which the reference shows. */
const isValue = (symbol: ts.Symbol): boolean => {
  const { flags } = targetOf(symbol);
  const isSchema =
    (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0 &&
    (flags & ts.SymbolFlags.Class) === 0;
  return !isSchema && (flags & ts.SymbolFlags.Value) !== 0;
};

/** The members of a class or interface that an entry exports, without constructors and symbols. */
const membersOf = (file: string, name: string): readonly string[] => {
  const found = exportsOf(file).find((symbol) => symbol.name === name);
  if (found === undefined) throw new Error(`${file} exports no ${name}`);
  return checker
    .getDeclaredTypeOfSymbol(targetOf(found))
    .getProperties()
    .map((member) => member.name)
    .filter((member) => !/^(__|#)/.test(member));
};

/** What can be written after `client.` or `sandbox.`, by the words before it. */
const known = new Map<string, readonly string[]>([
  ["client", membersOf(entry.index, "Client")],
  ["sandbox", membersOf(entry.sandbox, "Sandbox")],
  ["client.contacts", membersOf(entry.index, "Contacts")],
  ["client.companies", membersOf(entry.index, "Companies")],
  ["client.lists", membersOf(entry.index, "Lists")],
  ["client.events", membersOf(entry.index, "Events")],
  ["client.emails", membersOf(entry.index, "Emails")],
  ["client.emails.scheduled", membersOf(entry.index, "ScheduledEmails")],
]);

describe("a public name without a page", () => {
  test.each(Object.entries(entry))(
    "%s exports no function, class or constant that the pages do not name",
    (_name, file) => {
      const names = exportsOf(file)
        .filter(isValue)
        .map(({ name }) => name);
      const silent = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
      expect(silent).toEqual([]);
    },
  );

  test.each([...known])("%s has no member that the pages do not name", (_of, members) => {
    expect(members.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });
});

// `client.contacts.create`, `sandbox.fail`, and in words `contacts.create`, but no file such as contacts.csv.
const member =
  /(?:\bclient\.|`)(contacts|companies|lists|events|emails\.scheduled|emails)\.(?!csv\b|ndjson\b)([a-zA-Z]+)(?=[(`.])|(?<![\w$/-])(client|sandbox)\.([a-zA-Z]+)\b/g;

const goneIn = (page: string): readonly string[] =>
  [...page.matchAll(member)].flatMap(([whole, part, ofPart = "", of = "", ofRoot = ""]) => {
    const members = known.get(part === undefined ? of : `client.${part}`) ?? [];
    return members.includes(part === undefined ? ofRoot : ofPart) ? [] : [whole];
  });

test.each(documents)("$path names nothing that no longer exists", ({ text: page }) => {
  expect(goneIn(page)).toEqual([]);
});

test("a name that no longer exists is reported", () => {
  expect(
    goneIn("`contacts.merge` client.emails.sendAll() sandbox.wipe() `contacts.csv` contacts.length"),
  ).toEqual(["`contacts.merge", "client.emails.sendAll", "sandbox.wipe"]);
});

const cellsOf = (row: string): readonly string[] => row.split("|").map((cell) => cell.trim());
/** The rows of the one table of a document that begins with such a line. */
const tableOf = (path: string, head: RegExp): readonly (readonly string[])[] => {
  const [, rest = ""] = documents.find((document) => document.path === path)?.text.split(head) ?? [];
  const [table = ""] = rest.split("\n\n");
  return table
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map(cellsOf);
};

test("the table of docs/errors.md has the code of every error", () => {
  const symbol = exportsOf(entry.errors).find(({ name }) => name === "ErrorCode");
  const union = symbol && checker.getDeclaredTypeOfSymbol(targetOf(symbol));
  const codes = union?.isUnion() ? union.types.map((type) => type.isStringLiteral() && type.value) : [];
  const listed = tableOf("docs/errors.md", /^\| class +\| `code` +\|/m).map(([, , code = ""]) =>
    code.replaceAll("`", ""),
  );
  expect(listed.toSorted()).toEqual(codes.toSorted());
});

test("the table of methods has every method of a resource", () => {
  const rows = tableOf("docs/guide/methods.md", /^\| method +\| requests +\|/m);
  const listed = rows.flatMap(([, cell = ""]) => {
    const names = [...cell.matchAll(/`([\w.]+)(?:\(\))?`/g)].map(([, name = ""]) => name);
    return names.map((name) => (name.startsWith(".") ? `emails.scheduled${name}` : name));
  });
  const methods = [...known].flatMap(([of, members]) => {
    const group = /^client\.(.+)$/.exec(of)?.[1];
    return group === undefined ? [] : members.map((name) => `${group}.${name}`);
  });
  const isGroup = (name: string) => known.has(`client.${name}`);
  expect(methods.filter((name) => !isGroup(name) && !listed.includes(name))).toEqual([]);
});
