import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Gives the bundled zod an object of its own in place of `globalThis`: importing the package then changes nothing
 * there, and the host's `z.config` does not reach into our checks.
 */
export const ownGlobals: Plugin = {
  name: "own-globals",
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](core|registries)\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: `const ownGlobals = {};\n${source.replaceAll("globalThis", "ownGlobals")}` };
    });
  },
};
