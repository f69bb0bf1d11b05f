import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The tests nearest to the files that are changed: a run of the whole suite for each mutant would take days.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["test/unit/{http,ledger,paging}/*.test.ts", "test/flow/{once,held,cancelled-keys}.test.ts"],
    // It changes the working directory, which the runner of Stryker does not allow.
    exclude: ["test/unit/ledger/file-ledger.test.ts"],
    testTimeout: 3_000,
  },
});
