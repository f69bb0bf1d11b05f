import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build, defineConfig, type Options } from "tsup";

/** The entries of the package, by the name of their file in `dist/`. */
export const entry = {
  index: "src/index.ts",
  sandbox: "src/sandbox/index.ts",
  files: "src/files/index.ts",
  redis: "src/redis/index.ts",
  sql: "src/sql/index.ts",
  errors: "src/errors.ts",
  opentelemetry: "src/opentelemetry/index.ts",
};

/** Packages that only compute are compiled in. undici, which speaks to the network, is a dependency that audits see. */
export const compiledIn = ["bottleneck", "is-network-error", "p-retry", "zod"];

const base: Options = { entry, format: ["esm", "cjs"], config: false, silent: true };
// esbuild puts modules that the same entries need into one file, and each `import()` counts as an entry. So `index` would
// load 26 files. These modules load after `index`. If each imports it, they all need what it needs: one file.
const afterIndex =
  /src[\\/](edge|cli[\\/]main|(files|redis|sandbox|sql)[\\/]index|service[\\/]compile|bulk[\\/](ingest|forecast|import|changes)|ledger[\\/](send-once|journal-file)|http[\\/]transport[\\/](proxy|undici))\.ts$/;
const chunks: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "chunks",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /\/transport\/undici\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "#transport", external: true } : undefined,
    );
    onResolve({ filter: /^index$/ }, () => ({ path: resolve(entry.index), sideEffects: true }));
    const textOf = (path: string) => `${readFileSync(path, "utf8")}\nimport "index";`;
    onLoad({ filter: afterIndex }, ({ path }) => ({ contents: textOf(path), loader: "ts" }));
  },
};

// tsup's declarations export a class as a value even if the source exports only its type. They also omit references.
const references = { asyncDispose: 'lib="esnext.disposable"', "from 'node:": 'types="node"' };
const mendTypes = async (name: string): Promise<void> => {
  const values = Object.keys(await import(resolve(`dist/${name}.js`)));
  const isValue = (item: string) => values.includes(item.split(" ").at(-1) ?? "");
  const mark = (item: string) => (item.startsWith("type ") || isValue(item) ? item : `type ${item}`);
  for (const file of [`dist/${name}.d.ts`, `dist/${name}.d.cts`]) {
    const text = readFileSync(file, "utf8");
    const needed = Object.entries(references).filter(([word]) => text.includes(word));
    const lines = needed.map(([, reference]) => `/// <reference ${reference} />\n`);
    lines.push(text.replace(/(?<=^export \{ ).*(?= \})/gm, (list) => list.split(", ").map(mark).join(", ")));
    writeFileSync(file, lines.join(""));
  }
};

export default defineConfig({
  ...base,
  // The `imports` of package.json select the transport, undici or edge, for each runtime.
  entry: { ...entry, undici: "src/http/transport/undici.ts", edge: "src/edge.ts", cli: "src/cli/main.ts" },
  clean: true,
  splitting: true,
  sourcemap: true,
  target: "node20",
  removeNodeProtocol: false,
  noExternal: compiledIn,
  esbuildPlugins: [chunks],
  esbuildOptions: (options, { format }) => {
    options.sourcesContent = false;
    // tsup maps CommonJS by its lines, so they must stay.
    if (format === "esm") Object.assign(options, { minifyWhitespace: true, lineLimit: 120 });
    else options.define = { ...options.define, "import.meta.url": "undefined" };
  },
  onSuccess: async () => {
    cpSync("src/sandbox/page", "dist/page", { recursive: true });
    for (const file of readdirSync("dist").map((name) => `dist/${name}`)) {
      // `clean` keeps old declarations. The names of shared ones change with their content.
      if (/\.d\.c?ts$/.test(file)) rmSync(file);
      // The source map of a CommonJS file contains the file's absolute path.
      if (/cjs\.map$/.test(file))
        writeFileSync(file, readFileSync(file, "utf8").replaceAll(resolve("dist"), "."));
    }
    await build({ ...base, dts: { only: true, compilerOptions: { ignoreDeprecations: "6.0" } } });
    await Promise.all(Object.keys(entry).map(mendTypes));
  },
});
