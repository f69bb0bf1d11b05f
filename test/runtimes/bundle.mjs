// Makes one program of the job with a bundler, and runs it where nothing is installed.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { build } from "esbuild";
import { rollup } from "rollup";

const installed = createRequire(process.env.INSTALLED);
const [, , bundler, entry] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "touchpoint-bundle-"));

const withEsbuild = async (format) => {
  const outfile = join(folder, format === "esm" ? "job.mjs" : "job.cjs");
  // undici is CommonJS, and asks for Node's modules by require, which an ES module does not have.
  const banner = `const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);`;
  const js = format === "esm" ? banner : "";
  await build({ entryPoints: [entry], bundle: true, platform: "node", format, outfile, banner: { js } });
  return outfile;
};

const withRollup = async () => {
  const { nodeResolve } = installed("@rollup/plugin-node-resolve");
  const file = join(folder, "job.mjs");
  const bundle = await rollup({
    input: entry,
    // undici stays a package of its own, as Rollup leaves CommonJS unless a plugin converts it.
    external: /^(node:|undici($|\/))/,
    plugins: [nodeResolve({ exportConditions: ["node"] })],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  await bundle.write({ file, format: "es", inlineDynamicImports: true });
  mkdirSync(join(folder, "node_modules"));
  const undici = dirname(createRequire(import.meta.url).resolve("undici/package.json"));
  symlinkSync(undici, join(folder, "node_modules", "undici"));
  return file;
};

/** webpack, or Rspack, which has the same interface. */
const withWebpack = async (webpack) => {
  const stats = await new Promise((resolve, reject) =>
    webpack(
      {
        mode: "production",
        target: "node20",
        context: process.cwd(),
        entry: `./${entry}`,
        output: { path: folder, filename: "job.cjs" },
        plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
      },
      (error, done) => (error ? reject(error) : resolve(done)),
    ),
  );
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  if (errors.length + warnings.length > 0) throw new Error(JSON.stringify([errors, warnings]));
  return join(folder, "job.cjs");
};

/** Also what Vite 8 and tsdown build with. */
const withRolldown = async () => {
  const file = join(folder, "job.mjs");
  const bundle = await installed("rolldown").rolldown({ input: entry, platform: "node" });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  return file;
};

const withNcc = async () => {
  const ncc = installed("@vercel/ncc");
  const { code, assets } = await ncc(join(process.cwd(), entry), { quiet: true, cache: false });
  const file = join(folder, "job.mjs");
  writeFileSync(file, code);
  for (const [name, { source }] of Object.entries(assets)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), source);
  }
  return file;
};

/** The program at `path` of an installed package. */
const programOf = (name, path) => join(dirname(installed.resolve(`${name}/package.json`)), path);

const runTool = (program, args, env = {}) => {
  const options = { env: { ...process.env, ...env }, encoding: "utf8" };
  const { status, stdout, stderr } = spawnSync(program, args, options);
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
};

const bun = () => programOf("@oven/bun-linux-x64", "bin/bun");

const withBun = () => {
  const file = join(folder, "job.mjs");
  runTool(bun(), ["build", entry, "--target=node", `--outfile=${file}`]);
  return file;
};

/** An executable, which holds Bun. */
const withBunCompile = () => {
  const file = join(folder, "job");
  runTool(bun(), ["build", entry, "--compile", `--outfile=${file}`]);
  return file;
};

const withDeno = () => {
  const file = join(folder, "job.mjs");
  const deno = programOf("@deno/linux-x64-glibc", "deno");
  // It downloads its esbuild once.
  const env = { DENO_DIR: join(dirname(process.env.INSTALLED), "deno") };
  runTool(deno, ["bundle", "--platform=deno", `--output=${file}`, entry], env);
  return file;
};

/** An executable, which holds Node 26. */
const withSea = async () => {
  const file = join(folder, "job");
  const config = join(folder, "sea.json");
  const main = await withEsbuild("cjs");
  writeFileSync(config, JSON.stringify({ main, output: file, disableExperimentalSEAWarning: true }));
  runTool(programOf("node26", "bin/node"), [`--build-sea=${config}`]);
  rmSync(main);
  return file;
};

const withParcel = (settings) => {
  const options = { includeNodeModules: true, outputFormat: "commonjs", scopeHoist: false };
  const target = { source: entry, distDir: "out", context: "node", engines: { node: ">=20" }, ...options };
  writeFileSync("package.json", JSON.stringify({ ...settings, targets: { job: target } }));
  // It reads its settings where the lock file is.
  writeFileSync("package-lock.json", "{}");
  runTool(process.execPath, [programOf("parcel", "lib/bin.js"), "build", "--no-cache", "--no-autoinstall"]);
  cpSync("out", folder, { recursive: true });
  return join(folder, "job.js");
};

const bundlers = {
  esm: () => withEsbuild("esm"),
  cjs: () => withEsbuild("cjs"),
  webpack: () => withWebpack(installed("webpack")),
  rspack: () => withWebpack(installed("@rspack/core").rspack),
  rolldown: withRolldown,
  ncc: withNcc,
  bun: withBun,
  "bun-compile": withBunCompile,
  deno: withDeno,
  sea: withSea,
  parcel: () => withParcel({ "@parcel/resolver-default": { packageExports: true } }),
  "parcel-as-it-comes": () => withParcel({}),
  rollup: withRollup,
};
try {
  const file = await bundlers[bundler]();
  console.error(`${bundler}: ${statSync(file).size} bytes`);
  const [program, args] = /\.[cm]?js$/.test(file) ? [process.execPath, [file]] : [file, []];
  process.exitCode = spawnSync(program, args, { cwd: folder, stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
