import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const papers = [
  "AGENTS.md",
  "CONTRIBUTING.md",
  ".github/CODE_OF_CONDUCT.md",
  "SECURITY.md",
  ".changeset/README.md",
  ".github/pull_request_template.md",
];

describe.each(papers)("%s", (path) => {
  const text = read(path);

  test("names only files that exist", () => {
    const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => link);
    const code = [...text.matchAll(/`((?:src|test|scripts|docs|\.github|\.ci|\.changeset)\/[\w./-]*)`/g)];
    const files = [...links, ...code.map(([, file = ""]) => file)];
    // CONTRIBUTING.md uses `deals` as an example of a new endpoint.
    expect(files.filter((file) => !file.includes("deals") && !existsSync(join(root, file)))).toEqual([]);
  });

  test("names only scripts that exist", () => {
    const scripts = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });
});

test("AGENTS.md has at most 70 lines", () => {
  expect(read("AGENTS.md").split("\n").length).toBeLessThanOrEqual(70);
});

const forms = readdirSync(join(root, ".github/ISSUE_TEMPLATE")).filter((file) => file !== "config.yml");

test.each(forms)("the form %s has the fields that GitHub requires", (file) => {
  const { name, description, body } = parse(read(`.github/ISSUE_TEMPLATE/${file}`));
  expect([typeof name, typeof description, Array.isArray(body)]).toEqual(["string", "string", true]);
  const questions = body.filter(({ type }: { type: string }) => type !== "markdown");
  const faults = body.flatMap(({ type, id, attributes }: Record<string, Record<string, unknown>>) => {
    const kinds = ["markdown", "textarea", "input", "dropdown", "checkboxes"];
    if (!kinds.includes(String(type))) return [`${type} is not a type of field`];
    if (String(type) === "markdown") return attributes?.value === undefined ? ["markdown without value"] : [];
    return typeof id === "string" && attributes?.label !== undefined
      ? []
      : [`${id}: an id and a label are missing`];
  });
  expect(faults).toEqual([]);
  expect(new Set(questions.map(({ id }: { id: string }) => id)).size).toBe(questions.length);
});

test("the devcontainer has Redis, PostgreSQL and the Node version of .nvmrc", () => {
  const { dockerComposeFile, service, postCreateCommand } = JSON.parse(
    read(".devcontainer/devcontainer.json"),
  );
  const { services } = parse(read(`.devcontainer/${dockerComposeFile}`));
  expect(Object.keys(services)).toEqual([service, "redis", "postgres"]);
  expect(services[service].image).toMatch(new RegExp(`^node:${read(".nvmrc").trim()}-`));
  expect(postCreateCommand).toBe("npm ci");
  expect(manifest.engines.node).toContain(read(".nvmrc").trim());
});
