import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { requireBanner } from "./entries.ts";

// tsup's own CommonJS splitting rewrites class fields, and breaks where a constructor follows super() by a comma.
// Converting the finished ES modules file by file keeps their splitting, and so what loads when.
const programs = ["cli.js"];
const names = readdirSync("dist").filter((name) => name.endsWith(".js") && !programs.includes(name));

for (const name of names) {
  const module = readFileSync(join("dist", name), "utf8").replace(requireBanner, "");
  const { code } = await transform(module, {
    format: "cjs",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    supported: { "dynamic-import": false },
    // Code that asks for it asks for __filename first.
    logOverride: { "empty-import-meta": "silent" },
  });
  const commonjs = code.replace(/\brequire\("(\.\/[\w-]+)\.js"\)/g, 'require("$1.cjs")');
  writeFileSync(join("dist", name.replace(/\.js$/, ".cjs")), commonjs);
}
