import type { Plugin } from "esbuild";
import { transportName } from "./entries.ts";

/** Leaves it to `imports` in package.json which transport is loaded: a bundle for workerd then holds nothing of undici. */
export const transportByCondition: Plugin = {
  name: "transport-by-condition",
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/transport\/undici\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: transportName, external: true } : undefined,
    );
  },
};
