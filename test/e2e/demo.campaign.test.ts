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
  test("sends once after a lost response, exports, and ingests although a process is killed", async () => {
    const { code, output } = await run("--fast");
    const checks = output.split("\n").filter((line) => /^ {2}[✓✗]/.test(line));
    expect({ code, checks }).toEqual({
      code: 0,
      checks: [
        '  ✓ the service sent the email, the response was lost: the program got outcome "unknown"',
        "  ✓ a second program tried again and was refused (once_unknown): 1 email went out",
        "  ✓ all 5,001 contacts are in the file, once each",
        "  ✓ the first run was killed halfway (SIGKILL)",
        expect.stringMatching(/^ {2}✓ the second run skipped the [\d,]+ events that the first had settled$/),
        "  ✓ 940 events recorded, none of them twice",
        "  ✓ 940 + 40 + 15 + 5 = 1,000 lines",
        "  ✓ 0 requests refused with 429",
      ],
    });
  });
});

describe("the demo's events", () => {
  test("are the ones that the generator makes", async () => {
    const file = await readFile(new URL("../../examples/demo/events.ndjson", import.meta.url), "utf8");
    expect(file).toBe(`${makeLines().join("\n")}\n`);
  });

  test("are 1,000 lines, 40 of them repeats", () => {
    const lines = makeLines();
    expect([lines.length, lines.length - new Set(lines).size, plan.repeated]).toEqual([1_000, 40, 40]);
  });

  test("have no time that becomes too old", () => {
    expect(makeLines().filter((line) => /"occurredAt":"(?!2999)/.test(line))).toEqual([]);
  });
});

test("no two of the demo's people share an address", () => {
  const addresses = Array.from({ length: 5_000 }, (_, index) => person(index).email);
  expect(new Set(addresses).size).toBe(5_000);
});
