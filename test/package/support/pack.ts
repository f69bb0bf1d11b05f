import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The packed package. All tests of the project share it. */
    readonly tarball: string;
    /** A folder in which the package is installed. All tests share it. */
    readonly installed: string;
  }
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

// npm passes its settings to child processes as environment variables. With these, the inner npm would work on this repository.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const timesOf = (path: string): readonly number[] => {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [statSync(path).mtimeMs];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
};

const isStale = (): boolean => {
  const sources = ["src", "patches", "tsup.config.ts", "package.json", "package-lock.json", "tsconfig.json"];
  const built = timesOf(join(root, "dist"));
  return (
    built.length === 0 ||
    Math.min(...built) < Math.max(...sources.flatMap((path) => timesOf(join(root, path))))
  );
};

/** Builds if `dist/` is missing or older than its sources. Then packs the package and installs it with its dependencies. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  if (isStale()) await run("npm", ["run", "-s", "build"], { cwd: root, env });
  const [folder, installed] = await Promise.all(
    ["pack", "installed"].map((what) => mkdtemp(join(tmpdir(), `touchpoint-${what}-`))),
  );
  if (folder === undefined || installed === undefined) throw new Error("no folder to pack into");
  // Scripts are off, because prepack would build a second time.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  await run("npm", args, { cwd: root, env });
  const [name] = readdirSync(folder);
  const tarball = join(folder, `${name}`);
  const manifest = JSON.stringify({ name: "scratch", version: "1.0.0", private: true });
  await writeFile(join(installed, "package.json"), manifest);
  const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["install", tarball, ...quiet], { cwd: installed, env });
  project.provide("tarball", tarball);
  project.provide("installed", installed);
  return async () => {
    for (const made of [folder, installed]) await rm(made, { recursive: true });
  };
};
