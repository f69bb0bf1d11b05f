import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf, type Program, programsOf, unknownCommands } from "./support/docs-blocks.ts";
import { atMost, type Ending, root, runProgram, typeCheck } from "./support/docs-run.ts";

const read = (path: string): string =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
}

// The package's own manifest has these fields.
const manifest = JSON.parse(read("package.json")) as Manifest;
const blocks = blocksOf(read("README.md"));
const programs = programsOf(blocks);
const examples = existsSync(join(root, "examples"))
  ? readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"))
  : [];

// Two, because a machine that builds this has two cores.
const inTurn = atMost(2);
const longestTestMs = 300_000;
const wentWell = { ended: "0", output: expect.any(String) };

describe("README.md", () => {
  // In the repository, so that imports resolve as in it; not under node_modules, where tsx maps no paths.
  let folder = "";
  let tsconfig = "";
  let typed: Ending;
  const fileOf = ({ line }: Program): string => join(folder, `line-${line}.ts`);

  beforeAll(async () => {
    await mkdir(join(root, "tmp"), { recursive: true });
    folder = await mkdtemp(join(root, "tmp/docs-"));
    tsconfig = join(folder, "tsconfig.json");
    for (const program of programs) await writeFile(fileOf(program), `${program.code}\nexport {};\n`);
    await writeFile(
      tsconfig,
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        compilerOptions: { noUnusedLocals: false },
        files: programs.map(fileOf),
        include: [],
      }),
    );
    typed = programs.length === 0 ? { ended: "0", output: "" } : await typeCheck(tsconfig);
  }, longestTestMs);

  afterAll(() => rm(folder, { recursive: true }));

  test("has programs", () => {
    expect(programs).not.toEqual([]);
  });

  test("has no block that escapes this test", () => {
    const kinds = ["ts", "sh", "text", "json", "csv"];
    expect(blocks.filter(({ language }) => !kinds.includes(language))).toEqual([]);
  });

  test("names only commands that exist", () => {
    const { name, scripts, bin = {} } = manifest;
    const commands = { name, scripts: Object.keys(scripts), bins: Object.keys(bin) };
    expect(unknownCommands(blocks, commands)).toEqual([]);
  });

  test("has blocks of right types", () => {
    expect(typed).toEqual({ ended: "0", output: "" });
  });

  test.concurrent.each(programs)(
    "the block at line $line runs",
    async (program) => {
      expect(await inTurn(() => runProgram(fileOf(program), tsconfig))).toEqual(wentWell);
    },
    longestTestMs,
  );
});

describe("examples", () => {
  test("are there", () => {
    expect(examples).not.toEqual([]);
  });

  test.each(examples)("%s has at most 30 lines", (name) => {
    expect(read(`examples/${name}`).trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });

  test.concurrent.each(examples)(
    "%s runs",
    async (name) => {
      const file = join(root, "examples", name);
      expect(await inTurn(() => runProgram(file, join(root, "tsconfig.json")))).toEqual(wentWell);
    },
    longestTestMs,
  );
});

test("CHANGELOG.md tells of the version of package.json", () => {
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

  test("joins what continues, and nothing else", () => {
    expect(programsOf(blocksOf(markdown))).toEqual([
      { line: 2, code: "const a = 1;\nconsole.log(a);" },
      { line: 27, code: "const a = 2;" },
    ]);
  });

  test("names the lines of commands that do not exist", () => {
    const commands = { name: "touchpoint-sdk", scripts: ["demo"], bins: ["touchpoint"] };
    expect(unknownCommands(blocksOf(markdown), commands)).toEqual([
      "line 15: npm run planted",
      "line 17: npm install planted",
      "line 20: rm -r planted",
    ]);
  });

  test("refuses a fence that is never closed and a block that continues none", () => {
    expect(() => blocksOf("text\n```ts\nconst a = 1;")).toThrow("line 2: a fence that is never closed");
    expect(() => programsOf(blocksOf("<!-- continues -->\n```ts\n```"))).toThrow(
      "line 2: continues no block",
    );
  });

  test("keeps what continues together over a paragraph only when the mark is right before the fence", () => {
    expect(blocksOf("<!-- continues -->\nwords\n```ts\n```").map(({ continues }) => continues)).toEqual([
      false,
    ]);
  });
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
