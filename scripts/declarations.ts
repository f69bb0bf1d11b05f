import { isBuiltin } from "node:module";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { bundledImport } from "./bundled.ts";
import { entry } from "./entries.ts";

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

// A project may list neither Node's types nor the newest library of TypeScript: each file asks for what it names.
const wants: readonly (readonly [names: RegExp, reference: string])[] = [
  [/\basyncDispose\b/, 'lib="esnext.disposable"'],
  [/\bfrom 'node:/, 'types="node"'],
];

const referencing = (code: string): string => {
  const wanted = wants.filter(([names]) => names.test(code));
  return wanted.map(([, reference]) => `/// <reference ${reference} />\n`).join("") + code;
};

for (const extension of [".d.ts", ".d.cts"])
  await bundle.write({
    dir: "dist",
    format: "esm",
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `types-[hash]${extension}`,
    plugins: [{ name: "references", renderChunk: referencing }],
  });

await bundle.close();
