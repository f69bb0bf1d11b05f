// npm test: the tests of behaviour run beside those that read the sources and ask the compiler. None needs dist/.
// `.ci/run` builds the package, and adds campaigns that kill programs, and the tests that drive a browser, install the
// packed package, or need other runtimes.
import { spawn } from "node:child_process";

const run = (command: string): Promise<number> =>
  new Promise((resolve) => {
    // A shell, because npm is a script of its own on Windows.
    spawn(command, { stdio: "inherit", shell: true }).once("exit", (code) => resolve(code ?? 1));
  });

const codes = await Promise.all([
  run("npm run -s check"),
  run("npx vitest run --project unit --project unit-mocks --project e2e --project e2e-alone"),
]);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
