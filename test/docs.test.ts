import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { presets, setupOf } from "../docs/.vitepress/playground/presets.ts";
import { readArgs } from "../src/cli/args.ts";
import { commands as commandLines } from "../src/cli/run.ts";
import { blocksOf, programsOf, unknownCommands } from "./support/docs-blocks.ts";
import { documents } from "./support/docs-pages.ts";
import { atMost, runInOrder } from "./support/docs-run.ts";
import { outputOf } from "./support/example-output.ts";
import { compile, root } from "./support/programs.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

// The package's own manifest has these fields.
const manifest = JSON.parse(read("package.json")) as Manifest;
const runnable = documents.flatMap(({ path, programs }) =>
  programs.filter(({ typesOnly }) => !typesOnly).map(({ line, code }) => ({ path, line, code })),
);
const examples = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));

const compiledBlocks = await (async () => {
  // In the repository, so that imports resolve as in it.
  const folder = join(root, "tmp/documents");
  mkdirSync(folder, { recursive: true });
  const files = runnable.map(({ path, line, code }) => {
    const file = join(folder, `${basename(path, ".md")}-${line}.ts`);
    writeFileSync(file, `${code}\nexport {};\n`);
    return file;
  });
  return compile("documents", files);
})();
const compiledExamples = await compile(
  "examples",
  examples.map((name) => join(root, "examples", name)),
);

const anyPort = { PORT: "0" };

// Two, because a machine that builds this has two cores.
const inTurn = atMost(2);
const longestTestMs = 300_000;

test("README.md has programs", () => {
  expect(runnable.filter(({ path }) => path === "README.md")).not.toEqual([]);
});

describe.each(documents)("$path", ({ path, blocks, programs }) => {
  test("has no block that escapes this test", () => {
    const kinds = ["ts", "sh", "text", "json", "csv", "yaml"];
    // Run by docs-errors.test.ts, and by runtimes/sqlite.test.ts.
    if (["docs/errors.md", "docs/guide/sql.md"].includes(path)) kinds.push("js");
    expect(blocks.filter(({ language }) => !kinds.includes(language))).toEqual([]);
  });

  test("has code of at most 72 columns, what a page shows without scrolling", () => {
    // The README is read elsewhere, and the skill by programs. An import cannot be broken.
    const isPage = path.startsWith("docs/");
    const lines = blocks.flatMap(({ language, code }) => (language === "text" ? [] : code.split("\n")));
    expect(lines.filter((line) => isPage && line.length > 72 && !line.startsWith("import "))).toEqual([]);
  });

  test("has no `await using` in a program that runs as it is copied: Node 20 and 22 lack it", () => {
    const copied = programs.filter(({ typesOnly }) => !typesOnly);
    expect(copied.filter(({ code }) => code.includes("await using"))).toEqual([]);
  });

  test("types only command lines that the command line takes", () => {
    const lines = blocks.filter(({ language }) => language === "sh").flatMap(({ code }) => code.split("\n"));
    const typed = lines.flatMap(
      (line) => /^\s*npx touchpoint (.+?)(?: #.*| &&.*| \|)?$/.exec(line)?.[1] ?? [],
    );
    const wrong = typed
      .map((line) => readArgs(commandLines, line.split(" ")))
      .filter(({ kind }) => kind === "wrong");
    expect(wrong).toEqual([]);
  });

  test("names only commands that exist", () => {
    const { name, scripts, bin = {}, peerDependencies } = manifest;
    const packages = [name, "zod", ...Object.keys(peerDependencies)];
    const commands = { packages, scripts: Object.keys(scripts), bins: Object.keys(bin) };
    expect(unknownCommands(blocks, commands)).toEqual([]);
  });
});

const programsIn = documents
  .map(({ path }) => {
    const own = runnable.flatMap((program, index) =>
      program.path === path ? [{ line: program.line, file: compiledBlocks[index] ?? "" }] : [],
    );
    return { path, own };
  })
  .filter(({ own }) => own.length > 0);

test.concurrent.each(programsIn)(
  "$path: its blocks run one after another, with the same files",
  async ({ own }) => {
    const endings = await inTurn(() =>
      runInOrder(
        own.map(({ file }) => file),
        undefined,
        anyPort,
      ),
    );
    const failed = own.flatMap(({ line }, index) =>
      endings[index]?.ended === "0" ? [] : [{ line, ...endings[index] }],
    );
    expect(failed).toEqual([]);
  },
  longestTestMs,
);

describe("examples", () => {
  test("exist", () => {
    expect(examples).not.toEqual([]);
  });

  test("are all in the index", () => {
    const index = read("docs/examples.md");
    const named = (name: string): boolean =>
      index.includes(`examples/${name}`) || index.includes(`run ${name}`);
    expect(readdirSync(join(root, "examples")).filter((name) => !named(name))).toEqual([]);
  });

  test.each(examples)("%s has at most 30 lines", (name) => {
    expect(read(`examples/${name}`).trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });

  test.concurrent.each(examples.map((name, index) => [name, compiledExamples[index]] as const))(
    "%s runs on an empty sandbox, and prints the expected output",
    async (name, program = "") => {
      const endings = await inTurn(() => runInOrder([program], []));
      expect(endings).toEqual([{ ended: "0", output: expect.stringMatching(outputOf(name)) }]);
    },
    longestTestMs,
  );
});

test("each program of the page runs elsewhere, as it is copied with its setup", async () => {
  const folder = join(root, "tmp/playground");
  mkdirSync(folder, { recursive: true });
  const files = presets.map((preset, index) => {
    const file = join(folder, `preset-${index}.ts`);
    writeFileSync(file, `${setupOf(preset)}\n${preset.code}\nawait client.close();\n`);
    return file;
  });
  const endings = await runInOrder(await compile("playground", files));
  expect(endings).toEqual([
    { ended: "0", output: expect.stringMatching(/^sent \w+/) },
    { ended: "0", output: "2 of 3 contacts" },
    { ended: "0", output: expect.stringMatching(/^\d+ read, 0 missed, 0 twice$/) },
    { ended: "0", output: "time 1 recorded\ntime 2 known already\ntime 3 known already" },
  ]);
});

test("CHANGELOG.md has a section for the version of package.json", () => {
  expect(
    read("CHANGELOG.md")
      .split("\n")
      .map((line) => /^## \[?(\d[^\]\s]*)/.exec(line)?.[1]),
  ).toContain(manifest.version);
});

describe("the reader of Markdown", () => {
  const markdown = [
    "# Title", //
    "```ts",
    "const a = 1;",
    "```",
    "Words, then:",
    "<!-- continues -->",
    "",
    "```ts",
    "console.log(a);",
    "```",
    "- In a list:",
    "  ```sh",
    "  npm ci",
    "  npm run demo -- --fast   # quick",
    "  npm run planted",
    "  npm install touchpoint-sdk",
    "  npm install planted",
    "  # a comment",
    "  npx touchpoint sandbox",
    "  rm -r planted",
    "  ```",
    "````text",
    "```ts",
    "not code",
    "```",
    "````",
    "```ts",
    "const a = 2;",
    "```",
  ].join("\n");

  test("finds each block with its line and language", () => {
    expect(blocksOf(markdown).map(({ line, language, continues }) => [line, language, continues])).toEqual([
      [2, "ts", false],
      [8, "ts", true],
      [12, "sh", false],
      [22, "text", false],
      [27, "ts", false],
    ]);
  });

  test("joins only blocks that continue another block", () => {
    expect(programsOf(blocksOf(markdown))).toEqual([
      { line: 2, code: "const a = 1;\nconsole.log(a);", typesOnly: false },
      { line: 27, code: "const a = 2;", typesOnly: false },
    ]);
  });

  test("marks the blocks that do not run", () => {
    const text = "<!-- types only -->\n\n```ts\nrun();\n```\n";
    expect(programsOf(blocksOf(text))).toEqual([{ line: 3, code: "run();", typesOnly: true }]);
  });

  test("reports the lines with unknown commands", () => {
    const commands = { packages: ["touchpoint-sdk"], scripts: ["demo"], bins: ["touchpoint"] };
    expect(unknownCommands(blocksOf(markdown), commands)).toEqual([
      "line 15: npm run planted",
      "line 17: npm install planted",
      "line 20: rm -r planted",
    ]);
  });

  test("refuses a fence that is never closed, and a block with no block to continue", () => {
    expect(() => blocksOf("text\n```ts\nconst a = 1;")).toThrow("line 2: this fence is never closed");
    expect(() => programsOf(blocksOf("<!-- continues -->\n```ts\n```"))).toThrow(
      "line 2: there is no block to continue",
    );
  });

  test("continues a block across a paragraph only if the mark is directly before the fence", () => {
    expect(blocksOf("<!-- continues -->\nwords\n```ts\n```").map(({ continues }) => continues)).toEqual([
      false,
    ]);
  });
});

test("a program reads the file of the previous program, and a failure stops the next ones", async () => {
  const folder = join(root, "tmp/documents");
  const program = (name: string, code: string): string => {
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  };
  const fs = 'import { readFileSync, writeFileSync } from "node:fs";';
  const files = [
    program("writes.mjs", `${fs} setTimeout(() => writeFileSync("a.txt", "found"), 5);`),
    program("reads.mjs", `${fs} console.log(readFileSync("a.txt", "utf8")); process.exitCode = 3;`),
    program("waits.mjs", "console.error('begins'); await new Promise(() => {});"),
  ];
  expect(await runInOrder(files)).toEqual([
    { ended: "0", output: "" },
    { ended: "3", output: "found" },
    { ended: "not run", output: "" },
  ]);
  // As Node ends a program that awaits what never comes.
  expect(await runInOrder(files.toReversed())).toEqual([
    { ended: "13", output: "begins" },
    { ended: "not run", output: "" },
    { ended: "not run", output: "" },
  ]);
});

test("at most two run at a time, the others in order", async () => {
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const limited = atMost(2);
  const run = (name: string) =>
    limited(async () => {
      log.push(`start ${name}`);
      await new Promise<void>((open) => gates.set(name, open));
      log.push(`end ${name}`);
    });
  const all = ["a", "b", "c"].map(run);
  gates.get("b")?.();
  await all[1];
  await Promise.resolve();
  gates.get("a")?.();
  gates.get("c")?.();
  await Promise.all(all);
  expect(log).toEqual(["start a", "start b", "end b", "start c", "end a", "end c"]);
});
