import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { scratchFile } from "./scratch-file.ts";

/** Runs something at the moment at which a file is to be removed, once. */
const beforeRemoving = (happen: () => void): void => {
  const { rm } = promises;
  const restore = (): void => {
    promises.rm = rm;
    syncBuiltinESMExports();
  };
  promises.rm = (...given) => {
    restore();
    happen();
    return rm(...given);
  };
  syncBuiltinESMExports();
  onTestFinished(restore);
};

test("the file that takes a long one's place is its owner's alone", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path, { compactAfter: 1 });
  const claim = await ledger.claim("welcome:1", "f");
  const before = statSync(path).ino;
  await ledger.settle("welcome:1", "sent", claim.state === "claimed" ? { claim: claim.claim } : {});
  expect(statSync(path).ino).not.toBe(before);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a key is claimed in the file that is there, also when it was replaced while a seal was lifted", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  await ledger.claim("welcome:1", "f");
  const other = scratchFile();
  await fileLedger(other).claim("welcome:2", "f");
  appendFileSync(path, '\n{"seal":"s1"}\n');
  beforeRemoving(() => renameSync(other, path));
  expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "pending" });
  expect(await ledger.claim("welcome:3", "f")).toMatchObject({ state: "claimed" });
  expect(readFileSync(path, "utf8")).toContain('"key":"welcome:3"');
});
