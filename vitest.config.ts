import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const alias = {
  "touchpoint-sdk/sandbox": at("./src/sandbox/index.ts"),
  "touchpoint-sdk/redis": at("./src/redis/index.ts"),
  "touchpoint-sdk/files": at("./src/files/index.ts"),
  "touchpoint-sdk/errors": at("./src/errors.ts"),
  "touchpoint-sdk/opentelemetry": at("./src/opentelemetry/index.ts"),
  "touchpoint-sdk": at("./src/index.ts"),
};

const project = (name: string, include: string[], more: object = {}) => ({
  resolve: { alias },
  // A bound for what hangs, wide enough for a machine that is busy otherwise.
  test: { name, include, testTimeout: 60_000, ...more },
});

const redisTests = "test/e2e/redis/**";
const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;
if (!hasRedis && process.env.TOUCHPOINT_REQUIRE_REDIS === "1")
  throw new Error("redis-server is missing: apt-get install redis-server");
// Left out, not skipped: a skipped test looks like one that could have run.
if (!hasRedis)
  console.log(`left out: ${redisTests}, for want of redis-server (apt-get install redis-server)`);

// The files of a worker share its modules, which halves the time; whoever replaces a module has a worker of its own.
const replacingModules = readdirSync(at("./test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => join("test", path))
  .filter((path) => readFileSync(at(path), "utf8").includes("vi.mock("));

// What asks TypeScript's language service, which reads all sources: done once, in one worker.
const typeTests = ["test/contract/{api,documented*,editor*}.test.ts"];
const unitTests = ["test/{unit,flow,contract}/**/*.test.ts", "test/docs*.test.ts"];
const hasChromium = spawnSync("chromium", ["--version"]).status === 0;
if (!hasChromium && process.env.TOUCHPOINT_REQUIRE_CHROMIUM === "1")
  throw new Error("chromium is missing: apt-get install chromium");
if (!hasChromium) console.log("left out: test/browser/**, for want of chromium (apt-get install chromium)");

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project("check", ["test/architecture.test.ts", "test/repository/**/*.test.ts"]),
      project("types", typeTests, {
        isolate: false,
        // The whole program, with everything in it: the only type check there is.
        typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"] },
      }),
      project("unit", unitTests, { exclude: [...typeTests, ...replacingModules], isolate: false }),
      project("unit-mocks", replacingModules),
      project("e2e", ["test/e2e/**/*.test.ts"], {
        exclude: hasRedis ? [] : [redisTests],
      }),
      project("browser", hasChromium ? ["test/browser/**/*.test.ts"] : []),
      project("site", hasChromium ? ["test/site/**/*.test.ts"] : [], { hookTimeout: 300_000 }),
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
