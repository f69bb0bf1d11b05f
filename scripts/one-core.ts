import { chmodSync, cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { rollup } from "rollup";
import { entry, requireBanner, transports } from "./entries.ts";

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
// Shared with browsers: the classes and nothing else, not even esbuild's own require(), which has no source.
const hasSource = (id: string): boolean => JSON.parse(readFileSync(`${id}.map`, "utf8")).sources.length > 0;
const ofErrors = closureOf(join(dist, "errors.js"));
const errors = new Set([...ofErrors].filter(hasSource));

const chunkOf = (id: string): string | undefined =>
  errors.has(id) ? "error-classes" : core.has(id) ? "core" : undefined;

/** Goes on with the source map that esbuild wrote beside a file; of vendors it keeps the places and not the text. */
const mapped = {
  name: "mapped",
  load: (id: string) => {
    const map = JSON.parse(readFileSync(`${id}.map`, "utf8"));
    map.sourcesContent = map.sourcesContent.map((text: string, at: number) =>
      map.sources[at].includes("node_modules/") ? null : text,
    );
    const code = readFileSync(id, "utf8");
    const blank = (text: string): string => " ".repeat(text.length);
    return { code: ofErrors.has(id) ? code.replace(/import"[^"]*";/g, blank) : code, map };
  },
};
const names = [...Object.keys(entry), ...Object.keys(transports), "cli"];
const bundle = await rollup({
  input: Object.fromEntries(names.map((name) => [name, join(dist, `${name}.js`)])),
  external: (id) => !/^[./]/.test(id),
  treeshake: false,
  plugins: [mapped],
  onwarn: ({ message }) => {
    throw new Error(message);
  },
});
for (const name of readdirSync(dist)) rmSync(join(dist, name), { recursive: true });
await bundle.write({
  dir: dist,
  format: "esm",
  banner: ({ name }) => (/^error/.test(name) ? "" : requireBanner),
  sourcemap: true,
  chunkFileNames: "[name].js",
  hoistTransitiveImports: false,
  minifyInternalExports: false,
  manualChunks: chunkOf,
});
await bundle.close();
chmodSync(join(dist, "cli.js"), 0o755);
// Served as they are; src/sandbox/page-files.ts reads them from beside the file it ends up in.
cpSync("src/sandbox/page", join(dist, "page"), { recursive: true });
