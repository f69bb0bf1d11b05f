// npm test: what reads the sources runs beside the build, then the tests of behaviour run beside those that ask the compiler.
// `.ci/run` adds campaigns that kill programs, and the tests that drive a browser, install the packed package, or need
// other runtimes. npm run check (`--check`) is the part without the tests of behaviour.
import { spawn } from "node:child_process";

const run = (command: string): Promise<number> =>
  new Promise((resolve) => {
    // A shell, because npm is a script of its own on Windows.
    spawn(command, { stdio: "inherit", shell: true }).once("exit", (code) => resolve(code ?? 1));
  });

const inTurn = async (...commands: readonly string[]): Promise<number> => {
  for (const command of commands) {
    const code = await run(command);
    if (code !== 0) return code;
  }
  return 0;
};

const lint = ["biome check .", "knip", "tsc --noEmit -p tsconfig.page.json", "tsx scripts/size.ts"];
const reading = ["check", "types"];
const isCheck = process.argv.includes("--check");
const projects = isCheck ? reading : [...reading, "unit", "unit-mocks", "e2e"];

const prepared = await Promise.all([
  inTurn(...lint.map((command) => `npx ${command}`)),
  isCheck ? 0 : run("npm run -s build"),
]);
const failed = prepared.find((code) => code !== 0);
const tests = `npx vitest run ${projects.map((name) => `--project ${name}`).join(" ")}`;
process.exitCode = failed ?? (await run(tests));
