// Runs a worker in workerd, bundled as Cloudflare's own tool does it, and prints what it answers: to one request, or to
// AT_ONCE of them together.
import { createRequire } from "node:module";
import process from "node:process";
import { build } from "esbuild";

const { INSTALLED, AT_ONCE = "1", ...bindings } = process.env;
const { Miniflare } = createRequire(INSTALLED)("miniflare");
const [, , entry] = process.argv;

const { outputFiles } = await build({
  entryPoints: [entry],
  bundle: true,
  format: "esm",
  conditions: ["workerd", "worker", "browser"],
  external: ["node:*"],
  minify: true,
  write: false,
});
const [{ text }] = outputFiles;
console.error(`bundled for workerd: ${text.length} bytes`);

const workerd = new Miniflare({
  modules: true,
  script: text,
  // The oldest that docs/guide/serverless.md names: two weeks earlier there is no node:fs.
  compatibilityDate: "2025-09-15",
  compatibilityFlags: ["nodejs_compat"],
  bindings: Object.fromEntries(Object.entries(bindings).filter(([name]) => name.endsWith("_URL"))),
});
try {
  const requests = Array.from({ length: Number(AT_ONCE) }, () => workerd.dispatchFetch("http://worker.test"));
  for (const response of await Promise.all(requests)) console.log(await response.text());
} finally {
  await workerd.dispose();
}
