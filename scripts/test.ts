// npm test: runs `npm run check` and the tests of behavior at the same time. Neither needs dist/.
// `.ci/run` also runs the campaigns, which kill programs, and the tests that need a browser, the packed package or other
// runtimes.
import { spawn } from "node:child_process";

const run = (command: string): Promise<number> =>
  new Promise((resolve) => {
    // Use a shell, because npm is a script on Windows.
    spawn(command, { stdio: "inherit", shell: true }).once("exit", (code) => resolve(code ?? 1));
  });

const codes = await Promise.all([
  run("npm run -s check"),
  run("npx vitest run --project unit --project unit-mocks --project e2e --project e2e-alone"),
]);
process.exitCode = codes.find((code) => code !== 0) ?? 0;
