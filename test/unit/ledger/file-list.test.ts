import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import { lineOf } from "../../../src/ledger/journal-record.ts";
import type { Ledger, LedgerRow } from "../../../src/ledger/ledger.ts";
import { scratchFile } from "./scratch-file.ts";
import { openFiles } from "./watch-files.ts";

const keysOf = async (ledger: Ledger): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of ledger.list()) keys.push(key);
  return keys;
};

const claimOf = async (ledger: Ledger, key: string): Promise<string> => {
  const claim = await ledger.claim(key, "f");
  if (claim.state !== "claimed") throw new Error(`${key} is ${claim.state}`);
  return claim.claim;
};

/** A file of so many keys that were sent, the last one last. */
const ledgerOf = (keys: number): string => {
  const path = scratchFile();
  const lines = [lineOf({ touchpointLedger: 1, id: "l" })];
  let seen = lines.join("").length;
  for (let at = 0; at < keys; at += 1) {
    const key = `welcome:${at}`;
    const claim = lineOf({ key, fingerprint: "f", since: at, seen, claim: `c-${at}` });
    const receipt = { id: `m-${at}`, to: "ada@example.com" };
    const sent = lineOf({ key, as: "sent", claim: `c-${at}`, receipt, settle: `s-${at}` });
    lines.push(claim, sent);
    seen += claim.length + sent.length;
  }
  writeFileSync(path, lines.join(""));
  return path;
};

test("the latest claim comes first, whenever it was settled", async () => {
  const ledger = fileLedger(scratchFile());
  const first = await claimOf(ledger, "first");
  await claimOf(ledger, "second");
  await ledger.settle("first", "sent", { claim: first });
  const freed = await claimOf(ledger, "freed");
  await ledger.settle("freed", "not-sent", { claim: freed });
  await claimOf(ledger, "third");
  expect(await keysOf(ledger)).toEqual(["third", "second", "first"]);
  await claimOf(ledger, "freed");
  expect(await keysOf(ledger)).toEqual(["freed", "third", "second", "first"]);
});

test("every key of a long file comes once, in order, however its lines fall", async () => {
  const path = ledgerOf(3_000);
  expect(await keysOf(fileLedger(path))).toEqual(
    Array.from({ length: 3_000 }, (_, at) => `welcome:${2_999 - at}`),
  );
});

test("the first row of a long file costs its last 64 KiB", async () => {
  const path = ledgerOf(5_000);
  const read = vi.spyOn(await openFiles(path), "read");
  onTestFinished(() => read.mockRestore());
  for await (const row of fileLedger(path).list()) {
    const receipt = { id: "m-4999", to: "ada@example.com" };
    expect(row).toEqual({ key: "welcome:4999", state: "sent", since: 4_999, receipt });
    break;
  }
  const positions = read.mock.calls.map((given: unknown[]) => Number(given[3]));
  expect(Math.min(...positions)).toBeGreaterThanOrEqual(statSync(path).size - 64 * 1_024);
  expect(read.mock.calls.length).toBeLessThan(4);
});

test("a line longer than what is read at once comes whole", async () => {
  const path = ledgerOf(10);
  const receipt = { id: "x".repeat(300_000) };
  for (const key of ["welcome:9", "welcome:8"]) await fileLedger(path).release(key);
  appendFileSync(path, lineOf({ key: "big", fingerprint: "f", since: 10, claim: "c-big" }));
  appendFileSync(path, lineOf({ key: "big", as: "sent", claim: "c-big", receipt, settle: "s-big" }));
  appendFileSync(path, lineOf({ key: "last", fingerprint: "f", since: 11, claim: "c-last" }));
  const ledger = fileLedger(path);
  expect((await keysOf(ledger)).slice(0, 3)).toEqual(["last", "big", "welcome:7"]);
  expect((await ledger.get("big"))?.receipt).toEqual(receipt);
});

test("of two claims that two processes wrote at once, the one that holds is listed", async () => {
  const path = scratchFile();
  const ledger = fileLedger(path);
  const claim = await claimOf(ledger, "a");
  const seen = readFileSync(path).length;
  await ledger.settle("a", "sent", { claim, receipt: { id: "m-1" } });
  // Its writer had read the file before the settlement.
  const late = { fingerprint: "f", since: 7, seen, claim: "late" };
  appendFileSync(path, lineOf({ key: "a", ...late }));
  appendFileSync(path, lineOf({ key: "b", ...late, claim: "b", seen }));
  const rows: LedgerRow[] = [];
  for await (const row of ledger.list()) rows.push(row);
  expect(rows).toMatchObject([
    { key: "b", state: "unknown" },
    { key: "a", state: "sent", receipt: { id: "m-1" } },
  ]);
});

test("a list that is left early closes its file", async () => {
  const path = ledgerOf(10);
  const read = vi.spyOn(await openFiles(path), "read");
  onTestFinished(() => read.mockRestore());
  for await (const _ of fileLedger(path).list()) break;
  const files = new Set(read.mock.contexts as FileHandle[]);
  expect([...files].map(({ fd }) => fd)).toEqual([-1]);
});
