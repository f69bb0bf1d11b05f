import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiFile, apiReport } from "../../scripts/api.ts";

const report = apiReport();

test("docs/api.md is up to date: otherwise, run npm run generate", () => {
  expect(readFileSync(apiFile, "utf8")).toBe(report);
});

test("docs/api.md contains no private member, no function body and no path of a source file", () => {
  expect(report).not.toMatch(/#private|import\("|@internal|=>\s*\{\s*return/);
});
