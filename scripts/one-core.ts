import { chmodSync, cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { rollup } from "rollup";
import { entry, requireBanner } from "./entries.ts";

// Opening a file costs an import more than reading it, and splitting makes a file of whatever any two entries share:
// what `index` loads at once, 16 of them, is put into one. What it loads later stays apart.
const dist = resolve("dist");

/** A file and all that it loads at once. */
const closureOf = (file: string, known = new Set<string>()): ReadonlySet<string> => {
  if (known.has(file)) return known;
  known.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g);
  for (const [, name = ""] of imports) closureOf(join(dist, name), known);
  return known;
};

const core = closureOf(join(dist, "index.js"));
const names = [...Object.keys(entry), "cli"];
const bundle = await rollup({
  input: Object.fromEntries(names.map((name) => [name, join(dist, `${name}.js`)])),
  external: (id) => !/^[./]/.test(id),
  treeshake: false,
  onwarn: ({ message }) => {
    throw new Error(message);
  },
});
for (const name of readdirSync(dist)) rmSync(join(dist, name), { recursive: true });
await bundle.write({
  dir: dist,
  format: "esm",
  banner: requireBanner,
  chunkFileNames: "[name].js",
  hoistTransitiveImports: false,
  minifyInternalExports: false,
  manualChunks: (id) => (core.has(id) ? "core" : undefined),
});
await bundle.close();
chmodSync(join(dist, "cli.js"), 0o755);
// Served as they are; src/sandbox/page-files.ts reads them from beside the file it ends up in.
cpSync("src/sandbox/page", join(dist, "page"), { recursive: true });
