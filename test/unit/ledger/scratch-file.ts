import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A path in a directory of its own, gone after the test. */
export const scratchFile = (name = "once.ledger"): string => {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-ledger-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, name);
};
