import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createVitest, type TestSpecification, type Vitest } from "vitest/node";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What one test file does when no mutant is on. */
export interface TestFile {
  readonly file: string;
  /** The mutants it comes past. */
  readonly seen: ReadonlySet<number>;
  /** How often it comes past any. */
  readonly passed: number;
  readonly durationMs: number;
  readonly slowestMs: number;
}

/** The tests of the file itself first, then those of its folder, then other units, then whole flows. */
const distance = (test: string, source: string): number => {
  const own = source.replace("src/", "test/unit/").replace(/\.ts$/, ".test.ts");
  if (test === own) return 0;
  if (dirname(test) === dirname(own)) return 1;
  return test.startsWith("test/unit/") ? 2 : 3;
};

/** Runs test files with one mutant on. */
export interface MutationRuns {
  readonly testFiles: readonly TestFile[];
  /** The first test file that fails with the mutant on; none when it survives them. */
  killerOf(mutant: number, source: string): Promise<string | undefined>;
  close(): Promise<void>;
}

const at = (path: string): string => join(root, path);

// Tests of parts that hold no mutants would only cost time.
const exclude = ["cli", "files", "sandbox", "scripts"].map((part) => `test/unit/${part}/**`);

/** Test files that a mutant has to survive; a mutant that only a farther one would find is listed as a survivor. */
const mostTestFiles = 5;

const start = (code: ReadonlyMap<string, string>): Promise<Vitest> =>
  createVitest(
    "test",
    {
      config: false,
      root,
      watch: false,
      pool: "forks",
      maxWorkers: 1,
      include: [
        "test/unit/**/*.test.ts",
        "test/flow/{once,import,batch-outcome,second-look,third-look}.test.ts",
      ],
      exclude,
      setupFiles: [at("scripts/mutation-setup.ts")],
      reporters: [{}],
      cache: false,
    },
    {
      cacheDir: mkdtempSync(join(tmpdir(), "touchpoint-mutations-vite-")),
      resolve: {
        alias: {
          "touchpoint-sdk/sandbox": at("src/sandbox/index.ts"),
          "touchpoint-sdk/redis": at("src/redis/index.ts"),
          "touchpoint-sdk/files": at("src/files/index.ts"),
          "touchpoint-sdk": at("src/index.ts"),
        },
      },
      plugins: [
        {
          name: "mutants",
          enforce: "pre",
          load: (id) => code.get(id.replace(/\?.*$/, "")),
        },
      ],
    },
  );

const roomMs = 4_000;

/** Looks at what each test file comes past, with no mutant on, and keeps vitest for the mutants. `code` is by path. */
export const openMutationRuns = async (code: ReadonlyMap<string, string>): Promise<MutationRuns> => {
  const passedFolder = mkdtempSync(join(tmpdir(), "touchpoint-mutations-"));
  const vitest = await start(new Map([...code].map(([path, text]) => [at(path), text])));
  const specifications = await vitest.globTestSpecifications();
  const run = async (
    chosen: readonly TestSpecification[],
    on: number | undefined,
    { mostPassed, testTimeoutMs }: { readonly mostPassed: number; readonly testTimeoutMs: number },
  ) => {
    vitest.provide("mutation", { on, mostPassed, testTimeoutMs, passedFolder });
    // What failed before would count as a reason to stop.
    vitest.state.idMap.clear();
    vitest.state.filesMap.clear();
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([...chosen]);
    const failed = testModules.find((module) => !module.ok());
    return { testModules, failed: failed?.moduleId ?? (unhandledErrors.length > 0 ? "an error" : undefined) };
  };
  const first = await run(specifications, undefined, {
    mostPassed: Number.POSITIVE_INFINITY,
    testTimeoutMs: 60_000,
  });
  // One failure is enough from here on.
  vitest.config.bail = 1;
  const failing = new Set(first.testModules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId));
  for (const path of failing) console.log(`left out, it fails without any mutant: ${path}`);
  const seen = new Map(
    readdirSync(passedFolder).map((name) => {
      // As mutation-setup.ts writes it.
      const told = JSON.parse(readFileSync(join(passedFolder, name), "utf8")) as {
        readonly file: string;
        readonly passed: number;
        readonly seen: readonly number[];
      };
      return [told.file, told] as const;
    }),
  );
  const passing = first.testModules.filter(({ moduleId }) => !failing.has(moduleId));
  const testFiles = passing.map((module): TestFile => {
    const told = seen.get(module.moduleId);
    const times = [...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0);
    return {
      file: module.moduleId.slice(root.length),
      seen: new Set(told?.seen),
      passed: told?.passed ?? 0,
      durationMs: module.diagnostic().duration,
      slowestMs: Math.max(0, ...times),
    };
  });
  const byPath = new Map(specifications.map((each) => [each.moduleId.slice(root.length), each]));
  return {
    testFiles,
    killerOf: async (mutant, source) => {
      const past = testFiles
        .filter((each) => each.seen.has(mutant))
        .sort((a, b) => distance(a.file, source) - distance(b.file, source) || a.durationMs - b.durationMs)
        .slice(0, mostTestFiles);
      for (const testFile of past) {
        const specification = byPath.get(testFile.file);
        if (specification === undefined) continue;
        const { failed } = await run([specification], mutant, {
          mostPassed: testFile.passed * 20 + 100_000,
          testTimeoutMs: testFile.slowestMs * 4 + roomMs,
        });
        if (failed !== undefined) return testFile.file;
      }
      return undefined;
    },
    close: async () => {
      await vitest.close();
      rmSync(passedFolder, { recursive: true, force: true });
    },
  };
};
