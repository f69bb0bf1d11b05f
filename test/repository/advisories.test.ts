import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundledAdvisories } from "../../scripts/advisories.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const advisory = {
  title: "Request smuggling",
  url: "https://advisories.example/GHSA-1",
  severity: "high",
  range: "<7.99.0",
};
const reported = (name: string, nodes: readonly string[], via: readonly unknown[] = [advisory]) => ({
  auditReportVersion: 2,
  vulnerabilities: { [name]: { name, severity: "high", via, nodes } },
});

test("an advisory for a bundled package is reported, with its range and address", () => {
  expect(bundledAdvisories(reported("undici", ["node_modules/undici"]))).toEqual([
    "undici <7.99.0: high, Request smuggling (https://advisories.example/GHSA-1)",
  ]);
});

test("one for a package that is no part of dist/, or for another copy, is passed over", () => {
  expect(bundledAdvisories(reported("vitest", ["node_modules/vitest"]))).toEqual([]);
  expect(bundledAdvisories(reported("undici", ["node_modules/jsdom/node_modules/undici"]))).toEqual([]);
  expect(bundledAdvisories({ auditReportVersion: 2, vulnerabilities: {} })).toEqual([]);
});

test("a bundled package that is affected by another one is reported by that one's advisory", () => {
  const report = {
    vulnerabilities: {
      "p-retry": { via: ["is-network-error"], nodes: ["node_modules/p-retry"] },
      "is-network-error": { via: [advisory], nodes: ["node_modules/is-network-error"] },
    },
  };
  expect(bundledAdvisories(report)).toEqual([expect.stringMatching(/^is-network-error /)]);
});

test("a report of npm's own failure is no clean bill", () => {
  const failure = { message: "405 Method Not Allowed", error: { summary: "" } };
  expect(() => bundledAdvisories(failure)).toThrow("not a report of npm audit");
});

test.each([
  ["a planted advisory", reported("zod", ["node_modules/zod"]), 1, /^zod <7\.99\.0: high/],
  ["none", reported("vitest", ["node_modules/vitest"]), 0, /^5 bundled packages: no advisory\n$/],
])("the script with %s ends with its code", (_name, report, code, said) => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-advisories-"));
  writeFileSync(join(folder, "audit.json"), JSON.stringify(report));
  const args = ["--import", "tsx", "scripts/advisories.ts", "--from", join(folder, "audit.json")];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect({ status, stdout }).toEqual({ status: code, stdout: expect.stringMatching(said) });
});
