// Compares docs/api.md with that of the last release.
//   npm run api:changes                        against the latest tag v*
//   npm run api:changes -- --against old.md    against a file
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** What a release does to the exported names. */
export interface ApiChanges {
  /** What a user's program may stop compiling for: names that are gone, and signatures that lost a line. */
  readonly breaking: readonly string[];
  readonly added: readonly string[];
}

/** The lines of each signature, by its entry, kind and name. */
const signaturesIn = (report: string): Map<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>();
  for (const section of report.split(/^## /m).slice(1)) {
    const [entry = "", body = ""] = section.split(/\n\n```ts\n/);
    for (const signature of body.replace(/\n```[\s\S]*$/, "").split("\n\n")) {
      const name = /^(?:abstract )?(class|interface|type|const|function) (\w+)/.exec(signature)?.[0];
      if (name !== undefined) found.set(`${entry} ${name}`, signature.split("\n"));
    }
  }
  return found;
};

/** Compares two reports that `npm run api` wrote. */
export const apiChanges = (before: string, after: string): ApiChanges => {
  const old = signaturesIn(before);
  const now = signaturesIn(after);
  if (old.size === 0 || now.size === 0) throw new Error("no signatures: is this a report of npm run api?");
  const breaking = [...old].flatMap(([name, lines]) => {
    const kept = now.get(name);
    if (kept === undefined) return [`${name}: is gone`];
    return lines.filter((line) => !kept.includes(line)).map((line) => `${name}: lost ${line.trim()}`);
  });
  const added = [...now].flatMap(([name, lines]) => {
    const known = old.get(name);
    if (known === undefined) return [name];
    return lines.filter((line) => !known.includes(line)).map((line) => `${name}: ${line.trim()}`);
  });
  return { breaking, added };
};

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: "pipe" });

/** The tag of the last release, if there was one. */
export const lastRelease = (before = "HEAD"): string | undefined => {
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v*", before).trim();
  } catch {
    return undefined;
  }
};

/** A file as a release had it. */
export const fileOf = (tag: string, path: string): string => git("show", `${tag}:${path}`);

if (process.argv[1] === import.meta.filename) {
  const { against } = parseArgs({ options: { against: { type: "string" } } }).values;
  const tag = lastRelease();
  if (against === undefined && tag === undefined)
    console.log("no release to compare with: there is no tag v*");
  else {
    const before = against === undefined ? fileOf(tag ?? "", "docs/api.md") : readFileSync(against, "utf8");
    const { breaking, added } = apiChanges(before, readFileSync("docs/api.md", "utf8"));
    console.log(`against ${against ?? tag}: ${breaking.length} lines lost, ${added.length} added`);
    for (const line of breaking) console.log(`- ${line}`);
    for (const line of added) console.log(`+ ${line}`);
  }
}
