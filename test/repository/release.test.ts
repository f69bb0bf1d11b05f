import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { apiChanges } from "../../scripts/api.ts";
import { type Release, releaseFaults } from "../../scripts/release-check.ts";
import { overBudget } from "../../scripts/size.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const api = readFileSync(join(root, "docs/api.md"), "utf8");

describe("the API report, compared with that of the last release", () => {
  test("the same report has no changes", () => {
    expect(apiChanges(api, api)).toEqual({ breaking: [], added: [] });
  });

  test("a removed name, a removed member and a changed member are breaking", () => {
    const less = api
      .replace(/type Addresses = .*\n\n/, "")
      .replace("    readonly accepted: number;\n", "")
      .replace("readonly code: ApiErrorCode;", "readonly code: string;");
    expect(apiChanges(api, less)).toEqual({
      breaking: [
        "touchpoint-sdk type Addresses: was removed",
        "touchpoint-sdk class ApiError: lost readonly code: ApiErrorCode;",
        "touchpoint-sdk interface BatchReport: lost readonly accepted: number;",
      ],
      added: ["touchpoint-sdk class ApiError: readonly code: string;"],
    });
  });

  test("a new name is not breaking", () => {
    expect(apiChanges(api.replace(/type Addresses = .*\n\n/, ""), api)).toEqual({
      breaking: [],
      added: ["touchpoint-sdk type Addresses"],
    });
  });

  test("a file that is not a report is refused", () => {
    expect(() => apiChanges("# Nothing", api)).toThrow("no signatures");
  });
});

const ready: Release = {
  tag: "v1.3.0",
  manifest: { version: "1.3.0", repository: "r", homepage: "h", bugs: "b" },
  changelog: "# Changelog\n\n## 1.3.0\n\n- A line.\n",
  changesets: ["README.md", "config.json"],
  api,
  before: { version: "1.2.9", api },
};

describe("a release", () => {
  const broken = api.replace(/type Addresses = .*\n\n/, "");

  test("that is ready has no fault", () => {
    expect(releaseFaults(ready)).toEqual([]);
    expect(releaseFaults({ ...ready, before: undefined })).toEqual([]);
  });

  test.each<[string, Partial<Release>, string]>([
    ["another tag", { tag: "v1.4.0" }, "the tag is v1.4.0, but the version in package.json is 1.3.0"],
    ["no section", { changelog: "# Changelog\n\n## 1.3.0-rc\n" }, 'CHANGELOG.md has no section "## 1.3.0"'],
    [
      "a pending changeset",
      { changesets: ["README.md", "brave-cats-sing.md"] },
      "there are pending changesets: brave-cats-sing.md. Run npm run version",
    ],
    [
      "a break in a minor version",
      { api: broken },
      "1.3.0 after 1.2.9 must not contain breaking changes, but does: touchpoint-sdk type Addresses: was removed",
    ],
    [
      "no repository",
      { manifest: { version: "1.3.0", homepage: "h", bugs: "b" } },
      'package.json has no "repository": see CONTRIBUTING.md, Before the first release',
    ],
    [
      "a version that is no number",
      { manifest: { ...ready.manifest, version: "next" } },
      'version "next" is not major.minor.patch',
    ],
  ])("with %s is refused", (_name, change, fault) => {
    expect(releaseFaults({ ...ready, ...change })).toEqual([fault]);
  });

  test.each([
    ["2.0.0", "1.9.0"],
    ["0.2.0", "0.1.7"],
  ])("%s after %s may break", (version, old) => {
    const release = {
      ...ready,
      tag: `v${version}`,
      manifest: { ...ready.manifest, version },
      changelog: `## ${version}`,
      api: broken,
      before: { version: old, api },
    };
    expect(releaseFaults(release)).toEqual([]);
    expect(releaseFaults({ ...release, before: { version, api } })).toHaveLength(1);
  });
});

test("the changeset in CONTRIBUTING.md sets the version and the changelog's first section", () => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-changeset-"));
  const at = (path: string): string => join(folder, path);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder });
  mkdirSync(at(".changeset"));
  for (const file of [".changeset/config.json", "CHANGELOG.md"]) cpSync(join(root, file), at(file));
  writeFileSync(at("package.json"), JSON.stringify({ ...manifest, version: "1.2.3" }));
  writeFileSync(at("package-lock.json"), "{}");
  symlinkSync(join(root, "node_modules"), at("node_modules"));
  writeFileSync(at(".gitignore"), "node_modules\n");
  // The example in CONTRIBUTING.md.
  const shown = /```text\n([\s\S]*?)```/.exec(readFileSync(join(root, "CONTRIBUTING.md"), "utf8"))?.[1] ?? "";
  writeFileSync(at(".changeset/brave-cats-sing.md"), shown);
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "Add");
  execFileSync(process.execPath, [join(root, "node_modules/@changesets/cli/bin.js"), "version"], {
    cwd: folder,
  });
  const [title, , heading, , kind, , line] = readFileSync(at("CHANGELOG.md"), "utf8").split("\n");
  const { version } = JSON.parse(readFileSync(at("package.json"), "utf8"));
  rmSync(folder, { recursive: true });
  expect({ version, title, heading, kind }).toEqual({
    version: "1.3.0",
    title: "# Changelog",
    heading: "## 1.3.0",
    kind: "### Minor Changes",
  });
  expect(line).toContain("`contacts.list` takes `sort`");
});

test("an entry over its budget is reported with its size and the budget", () => {
  const allowed = {
    staticKB: { index: 10, sandbox: 1, files: 1, redis: 1, sql: 1, errors: 1, opentelemetry: 1 },
    totalKB: { index: 20, sandbox: 1, files: 1, redis: 1, sql: 1, errors: 1, opentelemetry: 1 },
  };
  expect(overBudget("index", { staticKB: 10, totalKB: 20 }, allowed)).toEqual([]);
  expect(overBudget("index", { staticKB: 10.1, totalKB: 25 }, allowed)).toEqual([
    "index: staticKB is 10.1, budgets.json allows 10",
    "index: totalKB is 25, budgets.json allows 20",
  ]);
});
