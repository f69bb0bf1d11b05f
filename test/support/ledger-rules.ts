import { expect, test } from "vitest";
import { ValidationError } from "../../src/errors.ts";
import type { Claim, Ledger } from "../../src/ledger/ledger.ts";

const tokenOf = (claim: Claim): string => {
  if (claim.state !== "claimed") throw new Error(`the key is ${claim.state}`);
  return claim.claim;
};

const deep = JSON.parse("[".repeat(5_000) + "]".repeat(5_000));
const misspelt: Readonly<Record<string, readonly [readonly unknown[], string]>> = {
  "a state that is none": [
    ["welcome:1", "not_sent"],
    'must be "sent", "not-sent" or "unknown", got not_sent',
  ],
  "no state": [["welcome:1"], 'must be "sent", "not-sent" or "unknown", got undefined'],
  "a key that is no string": [[1, "sent"], "the key must be a string"],
  "a claim that is no string": [["welcome:1", "sent", { claim: 1 }], "claim must be the one"],
  "a receipt that is no JSON": [["welcome:1", "sent", { receipt: 1n }], "receipt must be JSON"],
  "a receipt nested too deep": [["welcome:1", "sent", { receipt: deep }], "receipt must be JSON"],
};

/** What every ledger does, wherever it keeps its keys. `open` makes one that is empty. */
export const keepsTheRules = (open: () => Ledger): void => {
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

  test.each(Object.entries(misspelt))("refuses to settle with %s", async (_what, [given, message]) => {
    const ledger = open();
    await ledger.claim("welcome:1", "f");
    await expect(Reflect.apply(ledger.settle, ledger, given)).rejects.toThrow(ValidationError);
    await expect(Reflect.apply(ledger.settle, ledger, given)).rejects.toThrow(`ledger.settle: ${message}`);
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "pending" });
  });
};
