// Bundles each entry from its sources, as a user's bundler would, and compares its size with budgets.json.
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { entry } from "../tsup.config.ts";
import budgets from "./budgets.json" with { type: "json" };

type Entry = keyof typeof entry;

/** Minified and gzipped sizes, in KB: what `import` loads at once, and the total with everything that is loaded later. */
export interface Size {
  readonly staticKB: number;
  readonly totalKB: number;
}

const reachable = ({ outputs }: Metafile, from: string, alsoLater: boolean): Set<string> => {
  const reached = new Set([from]);
  for (const file of reached)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (path in outputs && (alsoLater || kind === "import-statement")) reached.add(path);
  return reached;
};

/** Bundles an entry from its sources. */
export const sizeOf = async (name: Entry): Promise<Size> => {
  const { metafile, outputFiles } = await build({
    entryPoints: [entry[name]],
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["undici", "ioredis", "msw", "@opentelemetry/api"],
    outdir: "dist",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const zipped = new Map(outputFiles.map(({ path, contents }) => [path, gzipSync(contents).length]));
  const start = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry[name]);
  if (start === undefined) throw new Error(`${name} was not bundled`);
  const kb = (files: Set<string>): number => {
    const bytes = [...zipped].filter(([path]) => [...files].some((file) => path.endsWith(`/${file}`)));
    return Math.round(bytes.reduce((sum, [, size]) => sum + size, 0) / 100) / 10;
  };
  return {
    staticKB: kb(reachable(metafile, start[0], false)),
    totalKB: kb(reachable(metafile, start[0], true)),
  };
};

/** Lists the sizes that are over their budgets, one sentence each. */
export const overBudget = (
  name: Entry,
  size: Size,
  allowed: Pick<typeof budgets, "staticKB" | "totalKB"> = budgets,
): string[] =>
  (["staticKB", "totalKB"] as const)
    .filter((measure) => size[measure] > allowed[measure][name])
    .map(
      (measure) => `${name}: ${measure} is ${size[measure]}, budgets.json allows ${allowed[measure][name]}`,
    );

if (process.argv[1] === import.meta.filename) {
  // The keys of `entry` are the names of the entries.
  const names = Object.keys(entry) as Entry[];
  const sizes = await Promise.all(names.map(async (name) => [name, await sizeOf(name)] as const));
  console.table(Object.fromEntries(sizes));
  const faults = sizes.flatMap(([name, size]) => overBudget(name, size));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
