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
  const map = JSON.parse(readFileSync(join("dist", `${name}.map`), "utf8"));
  const inline = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}`;
  const { code, map: converted } = await transform(module.replace(/\/\/# sourceMappingURL=.*/, inline), {
    sourcefile: name,
    sourcemap: "external",
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
  const file = name.replace(/\.js$/, ".cjs");
  const commonjs = code.replace(/\brequire\("(\.\/[\w-]+)\.js"\)/g, 'require("$1.cjs")');
  writeFileSync(join("dist", file), `${commonjs}//# sourceMappingURL=${file}.map\n`);
  // A file that only hands on has no source, and would name itself.
  writeFileSync(join("dist", `${file}.map`), map.sources.length > 0 ? converted : JSON.stringify(map));
}
