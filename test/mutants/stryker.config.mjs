/**
 * StrykerJS changes one operator or text at a time, and lists the changes that no test notices: `npm run mutants` (half an
 * hour), or `npm run mutants -- --mutate src/http/retry-policy.ts` (half a minute).
 */
export default {
  // Where a fault would break a promise.
  mutate: [
    "src/http/retry{,-policy}.ts",
    "src/ledger/{rules,send-once}.ts",
    "src/paging/{walk,end,drift}.ts",
  ],
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutants/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 1,
  timeoutMS: 3_000,
  reporters: ["clear-text", "progress-append-only"],
  clearTextReporter: { allowColor: false, reportTests: false },
  tempDirName: "tmp/mutants",
  ignorePatterns: ["/tmp", "/docs", "/dist", "/bench", "/examples", "/release"],
  // Measured: 91. The retry policy, which decides whether an email may go again, has 100: what is accepted there says why.
  thresholds: { break: 90 },
};
