import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { compile, root } from "../support/programs.ts";

const [program = ""] = await compile("jitless", [`${root}test/e2e/jitless-child.ts`]);

test("without WebAssembly, the first call reports what the default transport lacks", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--jitless", program]);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ name: "ConfigurationError", code: "configuration_invalid", outcome: "not-applied" },
    message: expect.stringContaining("pass a fetch"),
  });
});
