import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { skill, skillFile } from "../../scripts/skill.ts";

const text = readFileSync(skillFile, "utf8");

test("SKILL.md is what `npm run skill` makes of README.md and docs/api.md", () => {
  expect(text).toBe(skill());
});

test("it is in the package, has a name and a description, and stays short", () => {
  expect(manifest.files).toContain("SKILL.md");
  const [, name, description] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(text) ?? [];
  expect(name).toBe(manifest.name);
  expect(description?.length).toBeLessThan(1_024);
  expect(text.length).toBeLessThan(40_000);
});
