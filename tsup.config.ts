import { defineConfig } from "tsup";

// Vendors are bundled: one small file each loads faster than their trees of files, p-retry is ESM-only while
// Node 20.18 cannot require() that, and an installed package then has nothing else to resolve.
export default defineConfig({
  entry: { index: "src/index.ts", sandbox: "src/sandbox/index.ts" },
  format: ["esm", "cjs"],
  target: "node20",
  platform: "node",
  splitting: true,
  treeshake: false,
  clean: true,
  minifySyntax: true,
  minifyWhitespace: true,
  noExternal: [/^(undici|zod|p-retry|is-network-error|bottleneck)(\/|$)/],
  dts: { compilerOptions: { ignoreDeprecations: "6.0", allowImportingTsExtensions: true } },
});
