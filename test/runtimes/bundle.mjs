// Makes one program of the job with a bundler, and runs it where nothing is installed.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
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

const withBun = () => {
  const bun = join(dirname(installed.resolve("@oven/bun-linux-x64/package.json")), "bin/bun");
  const { status, stderr } = spawnSync(bun, [
    "build",
    entry,
    "--target=node",
    `--outfile=${join(folder, "job.mjs")}`,
  ]);
  if (status !== 0) throw new Error(String(stderr));
  return join(folder, "job.mjs");
};

const bundlers = {
  esm: () => withEsbuild("esm"),
  cjs: () => withEsbuild("cjs"),
  webpack: () => withWebpack(installed("webpack")),
  rspack: () => withWebpack(installed("@rspack/core").rspack),
  rolldown: withRolldown,
  ncc: withNcc,
  bun: withBun,
  rollup: withRollup,
};
try {
  const file = await bundlers[bundler]();
  console.error(`${bundler}: ${statSync(file).size} bytes`);
  process.exitCode = spawnSync(process.execPath, [file], { cwd: folder, stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
