import { defineConfig } from "tsup";
import { bundledImport } from "./scripts/bundled.ts";
import { entry, transports } from "./scripts/entries.ts";
import { leanUndici } from "./scripts/lean-undici.ts";
import { ownGlobals } from "./scripts/own-globals.ts";
import { transportByCondition } from "./scripts/transport-by-condition.ts";

// Vendors are bundled: one small file each loads faster than their trees of files, p-retry is ESM-only while
// Node 20.18 cannot require() that, and an installed package then has nothing else to resolve.
export default defineConfig({
  // A program is run, not imported: it has no declarations.
  entry: { ...entry, ...transports, cli: "src/cli/main.ts" },
  // scripts/commonjs.ts makes the CommonJS files of these.
  format: "esm",
  target: "node20",
  platform: "node",
  splitting: true,
  treeshake: false,
  clean: true,
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  // A bundler for workers knows Node's own modules by their prefix only.
  removeNodeProtocol: false,
  noExternal: [bundledImport],
  // Node prints the line an error came from: without this it would be the whole file.
  esbuildOptions: (options) => {
    options.lineLimit = 160;
  },
  esbuildPlugins: [ownGlobals, leanUndici, transportByCondition],
  // scripts/declarations.ts writes them.
  dts: false,
});
