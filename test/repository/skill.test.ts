import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pages } from "../../docs/.vitepress/pages.ts";
import manifest from "../../package.json" with { type: "json" };

const folder = fileURLToPath(new URL("../../skills/touchpoint-sdk", import.meta.url));
const text = readFileSync(join(folder, "SKILL.md"), "utf8");

test("the skill is in the package, is named after its folder, and has a description and at most 200 lines", () => {
  expect(manifest.files).toContain("skills");
  const [, name, description] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(text) ?? [];
  expect(name).toBe("touchpoint-sdk");
  expect(description?.length).toBeLessThan(1_024);
  expect(text.split("\n").length).toBeLessThanOrEqual(200);
});

test("TanStack Intent finds the skill through package.json, even without a repository", () => {
  const { version, repo, docs } = manifest.intent;
  expect([version, repo, manifest.files.includes(docs)]).toEqual([1, manifest.name, true]);
});

test("every file that the skill refers to exists", () => {
  const named = [...text.matchAll(/`(references\/[\w.]+)`/g)].map(([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
});

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the description of the package names the promises of the README", () => {
  const promises = [...readme.matchAll(/^\| \*\*(Never \w+)\*\*/gm)].map(([, promise = ""]) => promise);
  expect(promises).toHaveLength(4);
  expect(manifest.description.toLowerCase()).toContain(`${promises.join(", ").toLowerCase()}.`);
});

test("the README links every guide", () => {
  const guides = pages.map(({ path }) => path).filter((path) => path.startsWith("guide/"));
  const unlinked = guides.filter((path) => !new RegExp(`\\]\\(\\S+/${path}(\\.md)?\\)`).test(readme));
  expect(unlinked).toEqual([]);
});

test("the README has at most 900 words", () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(900);
});
