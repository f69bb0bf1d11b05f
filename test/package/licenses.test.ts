import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { licenses, licensesFile } from "../../scripts/contents.ts";
import { bundled } from "../../scripts/vendors.ts";

test("THIRD-PARTY-LICENSES.md is what `npm run generate` would write", () => {
  expect(readFileSync(licensesFile, "utf8")).toBe(licenses());
});

test("every bundled package is named with its version and the text of its license", () => {
  const titles = licenses().match(/^## (\S+) \d+\.\d+\.\d+ \((MIT|ISC|BSD-3-Clause|Apache-2\.0)\)$/gm) ?? [];
  expect(titles.map((title) => title.split(" ")[1])).toEqual([...bundled].sort());
});
