import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type OutputFile } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { compiledIn } from "../../tsup.config.ts";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

// pg-boss is installed in test/databases.
const external = [
  "pg-boss",
  ...Object.keys({ ...manifest.devDependencies, ...manifest.dependencies }),
].filter((name) => !compiledIn.includes(name));

// Replace the file in one step: another worker may be starting the same program, and must not read half of it.
const replace = async ({ path, contents }: OutputFile): Promise<void> => {
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, contents);
  await rename(draft, path);
};

/**
 * Bundles TypeScript programs with the library's sources, so that Node starts them without a loader, in a fifth of the
 * time. The output is inside the repository, so that external packages are found.
 *
 * @returns the paths of the compiled programs, in the order of `sources`.
 */
export const compile = async (folder: string, sources: readonly string[]): Promise<readonly string[]> => {
  const outdir = join(root, "tmp/programs", folder);
  const nameOf = (source: string): string => basename(source, ".ts");
  const { outputFiles } = await build({
    entryPoints: sources.map((source) => ({ in: source, out: nameOf(source) })),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    external,
    platform: "node",
    target: "node20",
    format: "esm",
    tsconfig: join(root, "tsconfig.json"),
    logLevel: "error",
    write: false,
  });
  await Promise.all(outputFiles.map(replace));
  return sources.map((source) => join(outdir, `${nameOf(source)}.mjs`));
};
