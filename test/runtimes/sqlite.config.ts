import { defineConfig } from "vitest/config";

// For a Node that has node:sqlite: `sqlite.test.ts` starts it.
export default defineConfig({ test: { include: ["test/runtimes/sqlite-rules.ts"] } });
