import { describe, expect, test } from "vitest";
import { fileLedger } from "../../../src/ledger/file-ledger.ts";
import type { Claim, Ledger } from "../../../src/ledger/ledger.ts";
import { memoryLedger } from "../../../src/ledger/memory-ledger.ts";
import { scratchFile } from "./scratch-file.ts";

const tokenOf = (claim: Claim): string => {
  if (claim.state !== "claimed") throw new Error(`the key is ${claim.state}`);
  return claim.claim;
};

const kinds: readonly [string, () => Ledger][] = [
  ["memory", () => memoryLedger()],
  ["file", () => fileLedger(scratchFile())],
];

describe.each(kinds)("a ledger in a %s", (_kind, open) => {
  test("gives a free key to the first who asks", async () => {
    const ledger = open();
    expect(await ledger.claim("welcome:1", "f")).toEqual({ state: "claimed", claim: expect.any(String) });
    expect(await ledger.claim("welcome:1", "f")).toEqual({
      state: "pending",
      fingerprint: "f",
      since: expect.any(Number),
    });
    expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  });

  test("gives one of many who ask at once the key", async () => {
    const ledger = open();
    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.claim("welcome:1", "f")));
    expect(claims.map(({ state }) => state).sort()).toEqual(["claimed", ...Array(19).fill("pending")]);
  });

  test("hands out the receipt of what was sent, and the fingerprint it was sent under", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    expect(await ledger.settle("welcome:1", "sent", { claim, receipt: { id: "m-1", cc: ["é"] } })).toBe(true);
    expect(await ledger.claim("welcome:1", "g")).toEqual({
      state: "sent",
      fingerprint: "f",
      receipt: { id: "m-1", cc: ["é"] },
    });
  });

  test("frees a key that was not sent", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "not-sent", { claim });
    expect(await ledger.claim("welcome:1", "g")).toMatchObject({ state: "claimed" });
  });

  test("holds a key of which nobody knows until a person settles it", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "unknown", { claim });
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "unknown", fingerprint: "f" });
    expect(await ledger.settle("welcome:1", "sent")).toBe(true);
    expect(await ledger.claim("welcome:1", "f")).toEqual({
      state: "sent",
      fingerprint: "f",
      receipt: undefined,
    });
  });

  test("never lets a late sender settle the claim of the next one", async () => {
    const ledger = open();
    const late = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "not-sent");
    await ledger.claim("welcome:1", "f");
    expect(await ledger.settle("welcome:1", "not-sent", { claim: late })).toBe(false);
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "pending" });
  });

  test("never takes back what was sent, and settles no free key", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "sent", { claim, receipt: 1 });
    expect(await ledger.settle("welcome:1", "not-sent")).toBe(false);
    expect(await ledger.settle("welcome:2", "sent")).toBe(false);
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "sent", receipt: 1 });
    expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  });

  test("refuses a settlement that is none", async () => {
    const settle = async () => open().settle("welcome:1", "done" as "sent");
    await expect(settle()).rejects.toThrow('must be "sent", "not-sent" or "unknown", got done');
  });
});
