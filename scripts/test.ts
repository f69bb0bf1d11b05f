// npm test: what asks the compiler runs beside the build, then the tests of behaviour. `.ci/run` adds campaigns that
// kill programs, and the tests that drive a browser, install the packed package, or need other runtimes.
import { spawn } from "node:child_process";

const run = (...command: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    // A shell, because npm is a script of its own on Windows.
    spawn(command.join(" "), { stdio: "inherit", shell: true }).once("exit", (code) => resolve(code ?? 1));
  });

const prepared = await Promise.all([run("npm run -s build"), run("npm run -s check")]);
const tests = ["unit", "unit-mocks", "e2e"].map((name) => `--project ${name}`);
const failed = prepared.find((code) => code !== 0) ?? (await run("npx vitest run", ...tests));
process.exitCode = failed;
