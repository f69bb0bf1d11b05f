// Fails when a package that is compiled into dist/ has a known advisory.
//   npm run advisories                    asks the registry, by npm audit, of package-lock.json
//   npm run advisories -- --released      the same of the last release
//   npm run advisories -- --from a.json   reads what npm audit --json wrote
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundled } from "./vendors.ts";

/** What `npm audit --json` says of one advisory. */
interface Advisory {
  readonly title: string;
  readonly url: string;
  readonly severity: string;
  readonly range: string;
}

interface Audit {
  readonly vulnerabilities?: Readonly<
    Record<
      string,
      {
        /** Advisories, or names of packages through which it is affected. */
        readonly via: readonly (Advisory | string)[];
        /** Where it lies below the root of the project. */
        readonly nodes: readonly string[];
      }
    >
  >;
}

/**
 * The advisories that concern bundled packages, a sentence each. Other copies of them, which tools of this repository
 * bring along, are in no user's hands.
 */
export const bundledAdvisories = (audit: unknown): string[] => {
  // The shape is npm's; what lacks it, such as npm's own report of a failure, is refused here.
  const { vulnerabilities } = Object(audit) as Audit;
  if (vulnerabilities === undefined)
    throw new Error(`not a report of npm audit: ${JSON.stringify(audit).slice(0, 200)}`);
  return bundled.flatMap((name) => {
    const found = vulnerabilities[name];
    if (!found?.nodes.includes(`node_modules/${name}`)) return [];
    return found.via.flatMap((advisory) =>
      typeof advisory === "string"
        ? []
        : [`${name} ${advisory.range}: ${advisory.severity}, ${advisory.title} (${advisory.url})`],
    );
  });
};

/** What the registry knows of the versions in a folder's package-lock.json. npm ends with 1 where it finds something. */
const audit = (cwd: string): unknown => {
  const command = "npm audit --json --package-lock-only";
  const { stdout, stderr } = spawnSync(command, { cwd, shell: true, encoding: "utf8" });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`npm audit told nothing: ${stderr}`);
  }
};

/** Undefined when there is no release. */
const auditReleased = async (): Promise<unknown> => {
  // The compiler comes with it, which takes a second.
  const { fileOf, lastRelease } = await import("./api.ts");
  const tag = lastRelease();
  if (tag === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-audit-"));
  try {
    for (const file of ["package.json", "package-lock.json"])
      writeFileSync(join(folder, file), fileOf(tag, file));
    return audit(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { from: { type: "string" }, released: { type: "boolean" } } });
  const report =
    values.from !== undefined
      ? JSON.parse(readFileSync(values.from, "utf8"))
      : values.released
        ? await auditReleased()
        : audit(".");
  if (report === undefined) console.log("no release to look at: there is no tag v*");
  else {
    const found = bundledAdvisories(report);
    console.log(found.length === 0 ? `${bundled.length} bundled packages: no advisory` : found.join("\n"));
    if (found.length > 0) process.exitCode = 1;
  }
}
