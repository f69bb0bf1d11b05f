import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The packed package, made once for all tests of the project. */
    readonly tarball: string;
  }
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

// npm passes its own settings on by the environment; they would make the inner npm work on this repository.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const timesOf = (path: string): readonly number[] => {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [statSync(path).mtimeMs];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
};

const isStale = (): boolean => {
  const sources = ["src", "scripts", "tsup.config.ts", "package.json", "package-lock.json", "tsconfig.json"];
  const built = timesOf(join(root, "dist"));
  return (
    built.length === 0 ||
    Math.min(...built) < Math.max(...sources.flatMap((path) => timesOf(join(root, path))))
  );
};

/** Builds where `dist/` is missing or older than its sources, packs, and provides the tarball's path. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  if (isStale()) await run("npm", ["run", "-s", "build"], { cwd: root, env });
  const folder = await mkdtemp(join(tmpdir(), "touchpoint-pack-"));
  // Without scripts: prepack would build once more.
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  await run("npm", args, { cwd: root, env });
  const [name] = readdirSync(folder);
  project.provide("tarball", join(folder, `${name}`));
  return () => rm(folder, { recursive: true });
};
