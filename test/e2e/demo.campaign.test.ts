import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeLines, plan } from "../../examples/demo/events.ts";
import { person } from "../../examples/demo/people.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const run = (...args: readonly string[]) =>
  new Promise<{ readonly code: unknown; readonly output: string }>((resolve) => {
    const program = ["--import", import.meta.resolve("tsx"), "examples/demo/main.ts", ...args];
    execFile(process.execPath, program, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: error === null ? stdout : stdout + stderr }),
    );
  });

describe("the demo", () => {
  test("exports and ingests over sockets, a process is killed halfway, and all is as it must be", async () => {
    const { code, output } = await run("--fast");
    const checks = output.split("\n").filter((line) => /^ {2}[✓✗]/.test(line));
    expect({ code, checks }).toEqual({
      code: 0,
      checks: [
        "  ✓ all 5,000 contacts are in the file, once each",
        "  ✓ the first run was killed halfway (SIGKILL)",
        expect.stringMatching(/^ {2}✓ the second run skipped [\d,]+ events that the first had settled$/),
        "  ✓ every one of 1,990 events is accounted for",
        "  ✓ 1,880 events recorded",
        "  ✓ 1,880 of them recorded once",
        "  ✓ 30 events rejected",
        "  ✓ 10 lines are no JSON object",
        "  ✓ 0 requests refused with 429",
      ],
    });
  });
});

describe("the demo's events", () => {
  test("are those its generator makes", async () => {
    const file = await readFile(new URL("../../examples/demo/events.ndjson", import.meta.url), "utf8");
    expect(file).toBe(`${makeLines().join("\n")}\n`);
  });

  test("are 2,000 lines, of which the planned number are repeats", () => {
    const lines = makeLines();
    expect([lines.length, lines.length - new Set(lines).size]).toEqual([2_000, plan.repeated]);
  });

  test("hold no time that would grow too old", () => {
    expect(makeLines().filter((line) => /"occurredAt":"(?!2999)/.test(line))).toEqual([]);
  });
});

test("no two of the demo's people share an address", () => {
  const addresses = Array.from({ length: 5_000 }, (_, index) => person(index).email);
  expect(new Set(addresses).size).toBe(5_000);
});
