// Writes dist/: the programs in both formats, their declarations, and what they contain.
//   npm run build
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { build, type OutputFile } from "esbuild";
import { type OutputOptions, type Plugin, rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { sbomOf } from "./contents.ts";
import { entry, requireBanner, transports } from "./entries.ts";
import { ownLines, quickToParse } from "./output.ts";
import {
  bundledImport,
  leanUndici,
  ownGlobals,
  timelessBottleneck,
  transportByCondition,
} from "./vendors.ts";

const dist = resolve("dist");
const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
// A program is run, not imported: it has no declarations and no CommonJS copy.
const modules = { ...entry, ...transports };
const programs = { cli: "src/cli/main.ts" };

// Vendors are bundled: one small file each loads faster than their trees of files, p-retry is ESM-only while
// Node 20.18 cannot require() that, and an installed package then has nothing else to resolve.
const { outputFiles, metafile } = await build({
  entryPoints: { ...modules, ...programs },
  outdir: dist,
  write: false,
  metafile: true,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  // Node prints the line an error came from: without this it would be the whole file.
  lineLimit: 160,
  sourcemap: "external",
  sourcesContent: false,
  external: Object.keys(peerDependencies),
  plugins: [ownGlobals, leanUndici, timelessBottleneck, transportByCondition],
  logLevel: "warning",
});
const compiled = new Map(outputFiles.map((file): [string, OutputFile] => [file.path, file]));
const textOf = (path: string): string => compiled.get(path)?.text ?? "";
const mapOf = (path: string) => JSON.parse(textOf(`${path}.map`));

/** A file and all that it loads at once. */
const closureOf = (file: string, known = new Set<string>()): ReadonlySet<string> => {
  if (known.has(file)) return known;
  known.add(file);
  const imports = textOf(file).matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g);
  for (const [, name = ""] of imports) closureOf(join(dist, name), known);
  return known;
};

// Opening a file costs an import more than reading it, and splitting makes a file of whatever any two entries share:
// what `index` loads at once, 16 of them, is put into one. What it loads later stays apart.
const core = closureOf(join(dist, "index.js"));
// Shared with browsers: the classes and nothing else, not even esbuild's own require(), which has no source.
const ofErrors = closureOf(join(dist, "errors.js"));
const errors = new Set([...ofErrors].filter((id) => mapOf(id).sources.length > 0));

const fromMemory: Plugin = {
  name: "from-memory",
  resolveId: (id, importer) =>
    compiled.has(id) ? id : importer && id.startsWith("./") ? join(dist, id) : null,
  load: (id) => {
    const blank = (text: string): string => " ".repeat(text.length);
    const code = ofErrors.has(id) ? textOf(id).replace(/import"[^"]*";/g, blank) : textOf(id);
    return { code, map: mapOf(id) };
  },
};

const write = async (input: Readonly<Record<string, string>>, output: OutputOptions): Promise<void> => {
  const bundle = await rollup({
    input: Object.fromEntries(Object.keys(input).map((name) => [name, join(dist, `${name}.js`)])),
    external: (id) => !/^[./]/.test(id),
    treeshake: false,
    plugins: [fromMemory],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  await bundle.write({
    dir: dist,
    sourcemap: true,
    sourcemapExcludeSources: true,
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    manualChunks: (id) => (errors.has(id) ? "error-classes" : core.has(id) ? "core" : undefined),
    plugins: [quickToParse, ownLines],
    ...output,
  });
  await bundle.close();
};

const wants: readonly (readonly [names: RegExp, reference: string])[] = [
  [/\basyncDispose\b/, 'lib="esnext.disposable"'],
  [/\bfrom 'node:/, 'types="node"'],
];

const referencing = (code: string): string => {
  const wanted = wants.filter(([names]) => names.test(code));
  return wanted.map(([, reference]) => `/// <reference ${reference} />\n`).join("") + code;
};

/** Writes the declarations of each entry, for both formats. */
const writeDeclarations = async (): Promise<void> => {
  // Of zod's types only those that ours name are kept: a strict user then needs no zod, and two versions of it cannot clash.
  const bundle = await rollup({
    input: entry,
    external: (id) => isBuiltin(id) || (/^\w|^@/.test(id) && !bundledImport.test(id)),
    plugins: [
      dts({
        respectExternal: true,
        includeExternal: ["zod"],
        tsconfig: "tsconfig.json",
        compilerOptions: { ignoreDeprecations: "6.0", preserveSymlinks: false },
      }),
    ],
    onwarn: ({ code, message }) => {
      // The plugin tells of every type that an exported one names without being exported itself.
      if (code !== "PLUGIN_WARNING") console.error(`declarations: ${message}`);
    },
  });

  for (const extension of [".d.ts", ".d.cts"])
    await bundle.write({
      dir: dist,
      format: "esm",
      entryFileNames: `[name]${extension}`,
      chunkFileNames: `types-[hash]${extension}`,
      plugins: [{ name: "references", renderChunk: referencing }],
    });

  await bundle.close();
};

rmSync(dist, { recursive: true, force: true });
await write(
  { ...modules, ...programs },
  {
    format: "esm",
    chunkFileNames: "[name].js",
    banner: ({ name }) => (/^error/.test(name) ? "" : requireBanner),
  },
);
await write(modules, {
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name].cjs",
  dynamicImportInCjs: false,
  exports: "named",
});
chmodSync(join(dist, "cli.js"), 0o755);
// Served as they are; src/sandbox/page-files.ts reads them from beside the file it ends up in.
cpSync("src/sandbox/page", join(dist, "page"), { recursive: true });
await writeDeclarations();
writeFileSync(
  join(dist, "sbom.cdx.json"),
  `${JSON.stringify(sbomOf(Object.keys(metafile.inputs)), null, 2)}\n`,
);
