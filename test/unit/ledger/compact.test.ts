import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { scratchFile } from "./scratch-file.ts";

const meanwhile: { beforeRemoving: () => void } = { beforeRemoving: () => undefined };

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const rm: typeof real.rm = (...given) => {
    meanwhile.beforeRemoving();
    return real.rm(...given);
  };
  return { ...real, rm };
});

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
  meanwhile.beforeRemoving = () => {
    meanwhile.beforeRemoving = () => undefined;
    renameSync(other, path);
  };
  expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "pending" });
  expect(await ledger.claim("welcome:3", "f")).toMatchObject({ state: "claimed" });
  expect(readFileSync(path, "utf8")).toContain('"key":"welcome:3"');
});
