import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileless, program, strict } from "./support/consumer.ts";
import { run, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

const byNode16 = { ...strict, module: "node16" };
const byBundler = { ...strict, module: "esnext", moduleResolution: "bundler" };

const compile = async (
  { folder, write }: Scratch,
  compilerOptions: object,
  files: Readonly<Record<string, string>>,
) => {
  for (const [file, text] of Object.entries(files)) await write(file, text);
  await write("tsconfig.json", JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  return run(process.execPath, ["node_modules/typescript/bin/tsc"], folder);
};

const clean = { code: 0, stdout: "", stderr: "" };

// TypeScript 6 reads only the types that a project lists.
describe.each([
  ["lists Node's types", { types: ["node"] }],
  ["lists no types", {}],
])("a strict project that %s", (_, types) => {
  test("accepts the package's types in ES modules and CommonJS, with node16 resolution", async () => {
    const files = { "esm.mts": program, "cjs.cts": program };
    expect(await compile(project, { ...byNode16, ...types }, files)).toEqual(clean);
  });

  test("accepts the package's types with bundler resolution", async () => {
    expect(await compile(project, { ...byBundler, ...types }, { "bundled.ts": program })).toEqual(clean);
  });
});

test("a project without Node's types accepts the package's types, except those of touchpoint-sdk/files", async () => {
  const bare = await scratch(["typescript"]);
  try {
    const files = { "esm.mts": fileless, "cjs.cts": fileless };
    expect(await compile(bare, byNode16, files)).toEqual(clean);
    expect(await compile(bare, byBundler, { "bundled.ts": fileless })).toEqual(clean);
  } finally {
    await bare.remove();
  }
});
