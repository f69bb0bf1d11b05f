import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished, vi } from "vitest";

type Sync = typeof fs.fsync;

/** Puts a function between the library and `fsync`, until the test ends. */
export const betweenSync = (replacement: (original: Sync) => (...input: Parameters<Sync>) => void): void => {
  const original = fs.fsync;
  const spy = vi.spyOn(fs, "fsync").mockImplementation(replacement(original));
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
};
