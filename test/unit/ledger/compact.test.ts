import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compact } from "../../../src/ledger/compact.ts";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { JournalFile } from "../../../src/ledger/journal-file.ts";
import { scratchFile } from "./scratch-file.ts";
import { watchSyncs } from "./watch-files.ts";

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

test("the new file is on disk before it takes the old one's place, its name after, and none is left open", async () => {
  const path = scratchFile();
  const ledger = new JournalFile(path);
  await ledger.use(async () => undefined);
  const { synced, leftOpen } = await watchSyncs(path);
  await ledger.use((file) => compact(ledger, file));
  expect(synced).toEqual(["ledger", "successor", "directory"]);
  expect(leftOpen()).toBe(0);
});

test("of two that take away what a killed process left, the second does not mind that it is gone", async () => {
  const path = scratchFile();
  const ledger = new JournalFile(path);
  const leftBehind = `${path}.${crypto.randomUUID()}.tmp`;
  writeFileSync(leftBehind, "left behind");
  beforeRemoving(() => rmSync(leftBehind));
  await ledger.use((file) => compact(ledger, file));
  expect(readdirSync(dirname(path))).toEqual(["once.ledger"]);
});

test("an exchange that was called off tells what stood in its way, not that its file is gone", async () => {
  const path = scratchFile();
  const ledger = new JournalFile(path);
  const exchange = ledger.use(async (file) => {
    const append = ledger.append.bind(ledger);
    ledger.append = async (same, record) => {
      const effective = await append(same, record);
      for (const name of readdirSync(dirname(path)))
        if (name.endsWith(".tmp")) rmSync(`${dirname(path)}/${name}`);
      return effective;
    };
    await compact(ledger, file);
  });
  await expect(exchange).rejects.toMatchObject({ code: "ENOENT", syscall: "rename" });
});

test("a file of somebody else's is left alone, however alike its name", async () => {
  const path = scratchFile();
  const ledger = new JournalFile(path);
  const alike = [`once.ledger.${crypto.randomUUID()}.txt`, `twice.ledge.${crypto.randomUUID()}.tmp`];
  for (const name of alike) writeFileSync(`${dirname(path)}/${name}`, "somebody's");
  await ledger.use((file) => compact(ledger, file));
  expect(readdirSync(dirname(path)).sort()).toEqual(["once.ledger", ...alike].sort());
});
