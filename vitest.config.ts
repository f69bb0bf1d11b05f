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
  test: { name, include, ...more },
});

export default defineConfig({
  test: {
    projects: [
      project("check", ["test/architecture.test.ts"]),
      project("unit", ["test/{unit,flow,contract}/**/*.test.ts", "test/docs.test.ts"], {
        typecheck: { enabled: true, include: ["test/types/**/*.test-d.ts"] },
      }),
      project("e2e", ["test/e2e/**/*.test.ts"], { testTimeout: 60_000 }),
      project("package", ["test/package/**/*.test.ts"], {
        testTimeout: 300_000,
        hookTimeout: 300_000,
        globalSetup: ["test/package/support/pack.ts"],
      }),
    ],
  },
});
