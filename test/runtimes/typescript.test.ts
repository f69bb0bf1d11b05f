import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program, strict } from "../package/support/consumer.ts";
import { run, type Scratch, scratch } from "../package/support/scratch.ts";
import { compilers } from "./install.ts";

const modules = { "esm.mts": program, "cjs.cts": program };
const plain = { "plain.ts": program };
const types = ["node"];

const resolutions = [
  { name: "node16", compilerOptions: { module: "node16" }, files: modules },
  { name: "nodenext", compilerOptions: { module: "nodenext" }, files: modules },
  { name: "bundler", compilerOptions: { module: "esnext", moduleResolution: "bundler" }, files: plain },
  { name: "node10", compilerOptions: { module: "commonjs", moduleResolution: "node10" }, files: plain },
];

let project: Scratch;
beforeAll(async () => {
  project = await scratch(["@types/node", "undici-types"]);
});
afterAll(() => project.remove());

describe.each(compilers)("TypeScript $version", ({ version, tsc }) => {
  // TypeScript 7 has no node10 resolution any more, and 6 wants to be told that one knows.
  const known = resolutions.filter(({ name }) => version !== "7" || name !== "node10");
  const deprecations = version === "6" ? { ignoreDeprecations: "6.0" } : {};

  test.each(known)("compiles a strict consumer by $name resolution", async ({ compilerOptions, files }) => {
    for (const [file, text] of Object.entries(files)) await project.write(file, text);
    const options = { ...strict, types, ...compilerOptions, ...deprecations };
    await project.write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions: options, files: Object.keys(files) }),
    );
    expect(await run(process.execPath, [tsc], project.folder)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
