import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const alias = {
  "touchpoint-sdk/sandbox": at("./src/sandbox/index.ts"),
  "touchpoint-sdk/redis": at("./src/redis/index.ts"),
  "touchpoint-sdk/files": at("./src/files/index.ts"),
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

export default defineConfig({
  test: {
    projects: [
      project("check", ["test/architecture.test.ts"]),
      project("unit", ["test/{unit,flow,contract}/**/*.test.ts", "test/docs.test.ts"], {
        typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"] },
      }),
      project("e2e", ["test/e2e/**/*.test.ts"], {
        exclude: hasRedis ? [] : [redisTests],
      }),
      project("package", ["test/package/**/*.test.ts"], {
        testTimeout: 300_000,
        hookTimeout: 300_000,
        globalSetup: ["test/package/support/pack.ts"],
      }),
    ],
  },
});
