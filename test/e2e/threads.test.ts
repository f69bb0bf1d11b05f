import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { compile, root } from "../support/programs.ts";

const [program = ""] = await compile("threads", [`${root}test/e2e/threads-child.ts`]);

test("a client in a worker thread says once in its log that the thread counts alone, and what to do", async () => {
  const [warnings] = await once(new Worker(program), "message");
  expect(warnings).toEqual([
    "touchpoint: each worker thread counts only its own requests: share the limits with redisLimits or sqlLimits, " +
      "or set each thread's part in limits",
  ]);
});

test("a client in the main thread says nothing of threads", () => {
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => warnings.push(text) };
  new Client({ apiKey: "k", baseUrl: "http://127.0.0.1", logger });
  expect(warnings).toEqual([]);
});
