import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { isInstalled, programsNeededBy } from "./test/support/needed-programs.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const alias = {
  "touchpoint-sdk/sandbox": at("./src/sandbox/index.ts"),
  "touchpoint-sdk/redis": at("./src/redis/index.ts"),
  "touchpoint-sdk/sql": at("./src/sql/index.ts"),
  "touchpoint-sdk/files": at("./src/files/index.ts"),
  "touchpoint-sdk/errors": at("./src/errors.ts"),
  "touchpoint-sdk/opentelemetry": at("./src/opentelemetry/index.ts"),
  "touchpoint-sdk": at("./src/index.ts"),
};

const testFiles = readdirSync(at("./test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
  .map((path) => join("test", path));

const missingFor = (path: string): string[] =>
  [...programsNeededBy(at(path))].filter((program) => !isInstalled(program));

// These files are excluded. If their tests were skipped instead, they would look like tests that could have run.
const excludedFiles = testFiles.filter((path) => missingFor(path).length > 0);
if (excludedFiles.length > 0) {
  const missing = [...new Set(excludedFiles.flatMap(missingFor))].join(", ");
  const message = `${excludedFiles.length} test files are excluded, because these programs are not installed: ${missing}. The files: ${excludedFiles.join(", ")}`;
  // `.ci/run` installs only two of the gateways. The tests of the other gateways run only on machines that have them.
  const lacksRequired = excludedFiles.some((path) => !path.startsWith(join("test", "gateways")));
  if (process.env.TOUCHPOINT_REQUIRE_PROGRAMS === "1" && lacksRequired) throw new Error(message);
  console.log(message);
}

const project = (
  name: string,
  include: string[],
  { exclude = [], ...more }: { readonly exclude?: readonly string[] } & Record<string, unknown> = {},
) => ({
  resolve: { alias },
  // The timeout ends tests that hang. 60 s is enough for every other test, even on a busy machine.
  test: {
    name,
    include,
    exclude: [...exclude, ...excludedFiles],
    testTimeout: 60_000,
    setupFiles: [at("./test/support/forget-limits.ts")],
    ...more,
  },
});

// Test files share a worker and its modules, which halves the time. A file that replaces a module or changes the globals
// of the process gets its own worker.
const filesWith = (pattern: RegExp): string[] =>
  testFiles.filter((path) => pattern.test(readFileSync(at(path), "utf8")));
const replacingModules = filesWith(/vi\.mock\(/);
const changingGlobals = filesWith(/globalThis|process\.env\.\w+ = |process\.on\(|vi\.stub|cliScene\(/).filter(
  (path) => path.startsWith(join("test", "e2e")),
);

// These tests use TypeScript's language service, which reads all sources. They share one worker, so it reads them once.
const typeTests = ["test/contract/{api,documented*,editor*}.test.ts"];
const unitTests = ["test/{unit,flow,contract}/**/*.test.ts", "test/docs*.test.ts"];

// Campaigns kill programs at random times or make random calls. `.ci/run` runs them, and `npm run campaign` runs them for
// much longer.
const campaigns = ["test/e2e/**/*.campaign.test.ts"];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project("check", ["test/architecture.test.ts", "test/repository/**/*.test.ts"]),
      project("types", typeTests, {
        isolate: false,
        // vitest runs tsc on all files of tsconfig.json. `npm run check` has no other type check of them.
        typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"] },
      }),
      project("unit", unitTests, { exclude: [...typeTests, ...replacingModules], isolate: false }),
      project("unit-mocks", replacingModules),
      project("e2e", ["test/e2e/**/*.test.ts"], {
        exclude: [...campaigns, ...changingGlobals],
        isolate: false,
      }),
      project("e2e-alone", changingGlobals, { exclude: campaigns }),
      project("campaign", campaigns),
      project("browser", ["test/browser/**/*.test.ts"]),
      project("gateways", ["test/gateways/**/*.test.ts"]),
      project("databases", ["test/databases/*.test.ts"]),
      project("site", ["test/site/**/*.test.ts"], {
        hookTimeout: 300_000,
        globalSetup: ["test/site/support/build.ts"],
      }),
      project("runtimes", ["test/runtimes/**/*.test.ts"], {
        testTimeout: 300_000,
        globalSetup: ["test/package/support/pack.ts", "test/runtimes/install.ts"],
      }),
      project("package", ["test/package/**/*.test.ts"], {
        testTimeout: 300_000,
        hookTimeout: 300_000,
        globalSetup: ["test/package/support/pack.ts"],
      }),
    ],
  },
});
