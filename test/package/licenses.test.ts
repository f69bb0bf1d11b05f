import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { compiledIn } from "../../tsup.config.ts";
import { root } from "./support/scratch.ts";

const file = "THIRD-PARTY-LICENSES.md";

/** The packages whose code is in the installed files, according to the source maps. */
const contained = (): readonly string[] => {
  const dist = join(inject("installed"), "node_modules/touchpoint-sdk/dist");
  const maps = readdirSync(dist).filter((name) => name.endsWith(".map"));
  const sources = maps.flatMap(
    (name): string[] => JSON.parse(readFileSync(join(dist, name), "utf8")).sources,
  );
  return [
    ...new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? [])),
  ];
};

test("the compiled-in packages are those that the build lists", () => {
  expect(contained().toSorted()).toEqual(compiledIn);
});

test("THIRD-PARTY-LICENSES.md is the output of `npm run licenses`, and names each compiled-in package", () => {
  const before = readFileSync(join(root, file), "utf8");
  execFileSync("npm", ["run", "-s", "licenses"], { cwd: root });
  expect(readFileSync(join(root, file), "utf8")).toBe(before);
  expect(before.match(/^[\w-]+(?= \d+\.\d+\.\d+$)/gm)).toEqual(compiledIn);
});
