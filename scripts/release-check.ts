// Checks whether a release is ready.
//   npm run release:check -- --tag v1.2.3
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { apiChanges, fileOf, lastRelease } from "./api.ts";

/** The parts of a release that are checked. */
export interface Release {
  readonly tag: string;
  readonly manifest: { readonly version: string; readonly [field: string]: unknown };
  readonly changelog: string;
  /** The files in `.changeset/`. */
  readonly changesets: readonly string[];
  readonly api: string;
  /** The previous release. */
  readonly before?: { readonly version: string; readonly api: string } | undefined;
}

type Version = readonly [major: number, minor: number, patch: number];

const versionOf = (text: string): Version | undefined => {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(text) ?? [];
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
};

/** Whether a version may contain breaking changes: a new major version, or a new minor version while the major version is 0. */
const mayBreak = ([major, minor]: Version, [oldMajor, oldMinor]: Version): boolean =>
  major > oldMajor || (major === 0 && minor > oldMinor);

const fieldsOfOwner = ["repository", "homepage", "bugs"];

/** Lists the reasons against a release, one sentence each. */
export const releaseFaults = (release: Release): string[] => {
  const { tag, manifest, changelog, changesets, api, before } = release;
  const { version } = manifest;
  const faults = fieldsOfOwner
    .filter((field) => manifest[field] === undefined)
    .map((field) => `package.json has no "${field}": see CONTRIBUTING.md, Before the first release`);
  const parsed = versionOf(version);
  if (parsed === undefined) return [...faults, `version "${version}" is not major.minor.patch`];
  if (tag !== `v${version}`) faults.push(`the tag is ${tag}, but the version in package.json is ${version}`);
  if (!changelog.split("\n").includes(`## ${version}`))
    faults.push(`CHANGELOG.md has no section "## ${version}"`);
  const pending = changesets.filter((file) => file.endsWith(".md") && file !== "README.md");
  if (pending.length > 0)
    faults.push(`there are pending changesets: ${pending.join(", ")}. Run npm run version`);
  const old = before && versionOf(before.version);
  if (before === undefined || old === undefined) return faults;
  const { breaking } = apiChanges(before.api, api);
  if (breaking.length > 0 && !mayBreak(parsed, old))
    faults.push(
      `${version} after ${before.version} must not contain breaking changes, but does: ${breaking.join("; ")}`,
    );
  return faults;
};

if (process.argv[1] === import.meta.filename) {
  const { tag } = parseArgs({ options: { tag: { type: "string" } } }).values;
  if (tag === undefined) throw new Error("pass the tag: --tag v1.2.3");
  const last = lastRelease("HEAD^");
  const faults = releaseFaults({
    tag,
    manifest: JSON.parse(readFileSync("package.json", "utf8")),
    changelog: readFileSync("CHANGELOG.md", "utf8"),
    changesets: readdirSync(".changeset"),
    api: readFileSync("docs/api.md", "utf8"),
    before: last === undefined ? undefined : { version: last.slice(1), api: fileOf(last, "docs/api.md") },
  });
  console.log(faults.length === 0 ? `${tag} may be released` : faults.join("\n"));
  if (faults.length > 0) process.exitCode = 1;
}
