import { expect, test } from "vitest";
import { committedCoverage, coverageText, holes } from "../../scripts/coverage.ts";
import { serviceDocument } from "./document.ts";
import { says } from "./document-statement.ts";

test("every statement of the service document has tests, and the tests exist", () => {
  expect(holes(serviceDocument)).toEqual([]);
});

test("no section has a statement twice, and no section appears twice", () => {
  for (const { statements } of serviceDocument) {
    const texts = statements.map((statement) => statement.says);
    expect(texts).toEqual([...new Set(texts)]);
  }
  const names = serviceDocument.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("coverage.md is up to date: otherwise, run npm run generate", () => {
  expect(committedCoverage()).toBe(coverageText(serviceDocument));
});

test("a statement without a test, and a test that does not exist, are reported", () => {
  const gone = { file: "test/contract/coverage.test.ts", title: "a test that was renamed" };
  const statements = [says("nothing holds this"), says("a renamed test held this", [gone])];
  expect(holes([{ name: "Planted", statements }])).toEqual([
    "Planted 1 (nothing holds this): no test covers it",
    'Planted 2 (a renamed test held this): test/contract/coverage.test.ts has no test "a test that was renamed"',
  ]);
});
