import ts from "typescript";
import { expect, test } from "vitest";
import { programOf, root } from "../../scripts/api.ts";
import { inferred, type OperationFacts } from "../../src/service/define.ts";
import { operations } from "../../src/service/operations.ts";

const sources = ["contacts", "companies", "lists", "events", "emails"].map(
  (name) => `src/resources/${name}.ts`,
);
const program = programOf({ files: sources, texts: new Map(), options: {} });

/** Where a class hangs in the client. */
const places: Readonly<Record<string, string>> = { ScheduledEmails: "emails.scheduled" };

/** The TSDoc of each public method, by the name that a user types, as one line. */
const documented = new Map(
  sources.flatMap((path) => {
    const source = program.getSourceFile(root + path);
    const classes = source?.statements.filter(ts.isClassDeclaration) ?? [];
    return classes.flatMap(({ name, members }) =>
      members.filter(ts.isMethodDeclaration).flatMap((method): [string, string][] => {
        const [comment] = ts.getJSDocCommentsAndTags(method);
        if (name === undefined || comment === undefined || ts.isPrivateIdentifier(method.name)) return [];
        const place = places[name.text] ?? name.text.toLowerCase();
        return [[`${place}.${method.name.getText()}`, comment.getText().replaceAll(/\s*\n\s*\* ?/g, " ")]];
      }),
    );
  }),
);

const records: readonly OperationFacts[] = Object.values(operations).flatMap((resource) =>
  Object.values<OperationFacts>(resource),
);

const scopeLine = ({ scope }: OperationFacts): string => {
  const names = scope.map((name) => `\`${name}\``).join(" and ");
  return scope.length === 0 ? "Scope: none documented" : `Scope${scope.length > 1 ? "s" : ""}: ${names}.`;
};

test.each(records)("$id names in its documentation the scope that its record has", (record) => {
  expect(documented.get(record.id)).toContain(scopeLine(record));
});

test.each(records.filter(({ id }) => Object.hasOwn(inferred, id)))(
  "$id says with method and path what is inferred, and how to correct it",
  (record) => {
    const comment = documented.get(record.id);
    expect(comment).toMatch(/Inferred, because the document gives/);
    expect(comment).toContain(`\`${record.method} ${record.path}`);
    expect(comment).toContain("The option `routes` corrects method and path.");
  },
);

test("every other method names a scope too", () => {
  const silent = [...documented].filter(([, comment]) => !/ Scopes?: /.test(comment));
  expect(silent.map(([name]) => name)).toEqual([]);
});
