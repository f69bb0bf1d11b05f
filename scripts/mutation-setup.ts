import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, inject, vi } from "vitest";

/** What a run of the mutations tells each of its workers. */
export interface MutationRun {
  /** The mutant that is on; none in the first run, which looks at what each test file comes past. */
  readonly on: number | undefined;
  /** Passing more mutants than this is an endless loop. */
  readonly mostPassed: number;
  readonly testTimeoutMs: number;
  /** Where each test file says what it came past. */
  readonly passedFolder: string;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly mutation: MutationRun;
  }
}

declare global {
  var __mutant: (number: number) => boolean;
}

const { on, mostPassed, testTimeoutMs, passedFolder } = inject("mutation");
const seen = new Set<number>();
let passed = 0;

vi.setConfig({ testTimeout: testTimeoutMs, hookTimeout: testTimeoutMs });

globalThis.__mutant = (number) => {
  passed += 1;
  // No exception would do: the loop may catch it.
  if (passed > mostPassed) process.kill(process.pid, "SIGKILL");
  if (on === undefined) seen.add(number);
  return number === on;
};

afterAll(() => {
  if (on !== undefined) return;
  const file = expect.getState().testPath ?? "";
  const name = `${encodeURIComponent(file)}.json`;
  writeFileSync(join(passedFolder, name), JSON.stringify({ file, passed, seen: [...seen] }));
});
