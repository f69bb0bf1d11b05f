import { spawnSync } from "node:child_process";
import { root } from "../../support/programs.ts";

/** Builds the site once for all of its tests. */
export const setup = (): void => {
  const built = spawnSync("npm run -s docs", { cwd: root, shell: true, encoding: "utf8" });
  if (built.status !== 0) throw new Error(`npm run docs failed:\n${built.stdout}${built.stderr}`);
};
