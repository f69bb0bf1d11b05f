import { expect, test } from "vitest";
import { ValidationError } from "../../src/errors.ts";
import type { Ledger, LedgerClaim, LedgerFilter, LedgerRow } from "../../src/ledger/ledger.ts";
import type { MomentInput } from "../../src/runtime/moments.ts";

const tokenOf = (claim: LedgerClaim): string => {
  if (claim.state !== "claimed") throw new Error(`the key is ${claim.state}`);
  return claim.claim;
};

const rowsOf = async (ledger: Ledger, filter?: LedgerFilter): Promise<LedgerRow[]> => {
  const rows: LedgerRow[] = [];
  for await (const row of ledger.list(filter)) rows.push(row);
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
};

const sinceFault =
  "since must be a valid Date, a Temporal.Instant, a Temporal.ZonedDateTime or an ISO 8601 string with a time zone";
const mapHint = "as a callback of map, write items.map((item) => method(item))";
const filters: Readonly<Record<string, readonly [unknown, string]>> = {
  "an unknown state": [{ state: "free" }, 'state must be "pending", "unknown" or "sent", got "free"'],
  "a misspelt field": [{ satte: "sent" }, 'there is no option "satte" (did you mean "state"?)'],
  "a time without a zone": [{ since: "2026-03-02T07:00" }, `${sinceFault}, got "2026-03-02T07:00"`],
  "a time that does not exist": [{ since: new Date(Number.NaN) }, `${sinceFault}, got a Date`],
  "a time of day without a zone": [
    { since: { [Symbol.toStringTag]: "Temporal.PlainDateTime" } },
    "since has no time zone; use toZonedDateTime(…) to make a Temporal.ZonedDateTime of the Temporal.PlainDateTime",
  ],
  "an object of luxon": [
    { since: { toJSDate: () => new Date() } },
    `${sinceFault}, got an object; call .toJSDate() on it`,
  ],
  "no filter at all": [5, `the options must be an object, got 5; ${mapHint}`],
};

const deep = JSON.parse("[".repeat(5_000) + "]".repeat(5_000));
const misspelt: Readonly<Record<string, readonly [readonly unknown[], string]>> = {
  "an unknown state": [
    ["welcome:1", "not_sent"],
    'the settlement must be "sent", "not-sent" or "unknown", got "not_sent"',
  ],
  "a misspelt detail": [
    ["welcome:1", "sent", { forced: true }],
    'there is no option "forced" (did you mean "force"?)',
  ],
  "no state": [["welcome:1"], 'the settlement must be "sent", "not-sent" or "unknown", got undefined'],
  "a key that is no string": [[1, "sent"], "the key must be a string"],
  "a force that is no boolean": [["welcome:1", "sent", { force: 1 }], "force must be true or false"],
  "a claim that is no string": [
    ["welcome:1", "sent", { claim: 1 }],
    "claim must be the claim that ledger.claim returned",
  ],
  "a receipt that is no JSON": [["welcome:1", "sent", { receipt: 1n }], "receipt must be JSON"],
  "a receipt nested too deep": [["welcome:1", "sent", { receipt: deep }], "receipt must be JSON"],
};

/** Tests that every ledger must pass, regardless of its storage. `open` creates an empty ledger. */
export const keepsTheRules = (open: () => Ledger): void => {
  test("gives a free key to the first claim", async () => {
    const ledger = open();
    expect(await ledger.claim("welcome:1", "f")).toEqual({ state: "claimed", claim: expect.any(String) });
    expect(await ledger.claim("welcome:1", "f")).toEqual({
      state: "pending",
      fingerprint: "f",
      since: expect.any(Number),
      receipt: undefined,
    });
    expect(await ledger.claim("welcome:2", "f")).toMatchObject({ state: "claimed" });
  });

  test("gives the key to only one of many simultaneous claims", async () => {
    const ledger = open();
    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.claim("welcome:1", "f")));
    expect(claims.map(({ state }) => state).sort()).toEqual(["claimed", ...Array(19).fill("pending")]);
  });

  test("returns the receipt and the fingerprint of a sent email", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    expect(await ledger.settle("welcome:1", "sent", { claim, receipt: { id: "m-1", cc: ["é"] } })).toBe(true);
    expect(await ledger.claim("welcome:1", "g")).toEqual({
      state: "sent",
      fingerprint: "f",
      since: expect.any(Number),
      receipt: { id: "m-1", cc: ["é"] },
    });
  });

  test("frees a key that was not sent", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "not-sent", { claim });
    expect(await ledger.claim("welcome:1", "g")).toMatchObject({ state: "claimed" });
  });

  test("holds an unknown key until a person settles it", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "unknown", { claim });
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "unknown", fingerprint: "f" });
    expect(await ledger.settle("welcome:1", "sent")).toBe(true);
    expect(await ledger.claim("welcome:1", "f")).toEqual({
      state: "sent",
      fingerprint: "f",
      since: expect.any(Number),
      receipt: undefined,
    });
  });

  test("never lets a late sender settle the claim of the next one", async () => {
    const ledger = open();
    const late = tokenOf(await ledger.claim("welcome:1", "f"));
    await ledger.settle("welcome:1", "not-sent", { force: true });
    await ledger.claim("welcome:1", "f");
    expect(await ledger.settle("welcome:1", "not-sent", { claim: late })).toBe(false);
    expect(await ledger.claim("welcome:1", "f")).toMatchObject({ state: "pending" });
  });

  test("never changes a sent key, and never settles a free key", async () => {
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

  test("returns the state of a key, and undefined for a free key", async () => {
    const ledger = open();
    expect(await ledger.get("welcome:1")).toBeUndefined();
    const claim = tokenOf(await ledger.claim("welcome:1", "f"));
    const since = expect.any(Number);
    const row = { key: "welcome:1", since, receipt: undefined };
    expect(await ledger.get("welcome:1")).toEqual({ ...row, state: "pending" });
    await ledger.settle("welcome:1", "unknown", { claim });
    expect(await ledger.get("welcome:1")).toEqual({ ...row, state: "unknown" });
    await ledger.settle("welcome:1", "sent", { claim, receipt: { id: "m-1" } });
    expect(await ledger.get("welcome:1")).toEqual({ ...row, state: "sent", receipt: { id: "m-1" } });
    await ledger.release("welcome:1");
    expect(await ledger.get("welcome:1")).toBeUndefined();
  });

  test("lists all claimed keys, or only those in one state", async () => {
    const ledger = open();
    expect(await rowsOf(ledger)).toEqual([]);
    for (const key of ["a", "b", "c", "d"]) {
      const claim = tokenOf(await ledger.claim(key, "f"));
      if (key === "a") await ledger.settle(key, "sent", { claim, receipt: { id: "m-1" } });
      if (key === "b") await ledger.settle(key, "unknown", { claim });
      if (key === "d") await ledger.settle(key, "not-sent", { claim });
    }
    const since = expect.any(Number);
    const rows = [
      { key: "a", state: "sent", since, receipt: { id: "m-1" } },
      { key: "b", state: "unknown", since, receipt: undefined },
      { key: "c", state: "pending", since, receipt: undefined },
    ];
    expect(await rowsOf(ledger)).toEqual(rows);
    for (const [at, state] of (["sent", "unknown", "pending"] as const).entries())
      expect(await rowsOf(ledger, { state })).toEqual([rows[at]]);
  });

  test("lists the keys claimed since a time", async () => {
    const ledger = open();
    await ledger.claim("a", "f");
    const { since = 0 } = (await ledger.get("a")) ?? {};
    const instant = (epochMilliseconds: number) => ({
      ...{ epochMilliseconds, epochNanoseconds: BigInt(epochMilliseconds) * 1_000_000n },
      [Symbol.toStringTag]: "Temporal.Instant",
    });
    const keysSince = async (from: MomentInput) =>
      (await rowsOf(ledger, { since: from })).map(({ key }) => key);
    expect(await keysSince(new Date(since))).toEqual(["a"]);
    expect(await keysSince(new Date(since + 1).toISOString())).toEqual([]);
    expect(await keysSince("2000-01-01")).toEqual(["a"]);
    expect(await keysSince(instant(since))).toEqual(["a"]);
    expect(await keysSince(instant(since + 1))).toEqual([]);
  });

  test.each(Object.entries(filters))("refuses to list by %s", async (_what, [filter, message]) => {
    const rows = Reflect.apply(rowsOf, undefined, [open(), filter]);
    await expect(rows).rejects.toThrow(
      new ValidationError(`ledger.list: ${message}`, { operation: "ledger.list" }),
    );
  });

  test("releases a key in any state, and returns false for a free key", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("sent", "f"));
    await ledger.settle("sent", "sent", { claim, receipt: 1 });
    await ledger.claim("pending", "f");
    for (const key of ["sent", "pending"]) {
      expect(await ledger.release(key)).toBe(true);
      expect(await ledger.release(key)).toBe(false);
      expect(await ledger.claim(key, "g")).toMatchObject({ state: "claimed" });
    }
  });

  test("reports a claim as pending while its attempt may run, and as unknown after that", async () => {
    const ledger = open();
    await ledger.claim("young", "f", { operation: "emails.send", limitMs: 60_000 });
    const old = tokenOf(await ledger.claim("old", "f", { operation: "emails.send", limitMs: 0 }));
    const states = { young: "pending", old: "unknown" } as const;
    for (const [key, state] of Object.entries(states)) {
      expect(await ledger.read(key)).toMatchObject({ state, fingerprint: "f" });
      expect(await ledger.claim(key, "f")).toMatchObject({ state });
      expect(await ledger.get(key)).toMatchObject({ key, state });
      expect(
        (await rowsOf(ledger, { state: states[key as keyof typeof states] })).map((row) => row.key),
      ).toEqual([key]);
    }
    expect(await ledger.settle("old", "sent", { claim: old, receipt: { id: "m-1" } })).toBe(true);
    expect(await ledger.read("old")).toMatchObject({ state: "sent", receipt: { id: "m-1" } });
    expect(await ledger.read("free")).toBeUndefined();
  });

  test("settles a pending key without its claim only with force", async () => {
    const ledger = open();
    for (const settlement of ["sent", "not-sent", "unknown"] as const) {
      const claim = tokenOf(await ledger.claim(settlement, "f"));
      expect(await ledger.settle(settlement, settlement)).toBe(false);
      expect(await ledger.read(settlement)).toMatchObject({ state: "pending" });
      expect(await ledger.settle(settlement, settlement, { force: true })).toBe(true);
      expect(await ledger.settle(settlement, "sent", { claim })).toBe(settlement === "unknown");
    }
  });

  const scheduled = { id: "se-1", status: "SCHEDULED", sendAt: "2026-03-02T07:00:00.000Z" };
  const scheduling = async (ledger: Ledger, key: string, receipt: unknown = scheduled): Promise<string> => {
    const claim = tokenOf(await ledger.claim(key, "f", { operation: "emails.schedule" }));
    await ledger.settle(key, "sent", { claim, receipt });
    return claim;
  };

  test("finds and frees the key of a scheduled email", async () => {
    const ledger = open();
    await scheduling(ledger, "a", { ...scheduled, id: "se-2" });
    await scheduling(ledger, "b");
    expect(await ledger.settleScheduled("se-1", "not-sent")).toBe(true);
    expect(await ledger.settleScheduled("se-1", "not-sent")).toBe(false);
    expect(await ledger.get("b")).toBeUndefined();
    expect(await ledger.get("a")).toMatchObject({ state: "sent" });
    await scheduling(ledger, "b", { ...scheduled, id: "se-3" });
    expect(await ledger.settleScheduled("se-1", "not-sent")).toBe(false);
    expect(await ledger.settleScheduled("se-3", "not-sent")).toBe(true);
  });

  test("keeps the unknown key of a scheduled email, and its receipt, until it is settled", async () => {
    const ledger = open();
    await scheduling(ledger, "a");
    expect(await ledger.settleScheduled("se-1", "unknown")).toBe(true);
    expect(await ledger.claim("a", "f")).toMatchObject({ state: "unknown" });
    expect(await ledger.settle("a", "sent")).toBe(true);
    expect(await ledger.claim("a", "f")).toMatchObject({ state: "sent", receipt: scheduled });
    expect(await ledger.settle("a", "not-sent")).toBe(true);
    expect(await ledger.claim("a", "f")).toMatchObject({ state: "claimed" });
  });

  test("never frees the key of an email that was sent at once, even if its receipt looks like a scheduled email", async () => {
    const ledger = open();
    const claim = tokenOf(await ledger.claim("a", "f", { operation: "emails.send" }));
    await ledger.settle("a", "sent", { claim, receipt: scheduled });
    expect(await ledger.settle("a", "not-sent")).toBe(false);
    expect(await ledger.settle("a", "not-sent", { force: true })).toBe(false);
    expect(await ledger.settleScheduled("se-1", "not-sent")).toBe(false);
    expect(await ledger.claim("a", "f")).toMatchObject({ state: "sent", receipt: scheduled });
  });

  test("frees the key of the scheduled email with an id, but not that of a sent email with the same id", async () => {
    const ledger = open();
    await scheduling(ledger, "scheduled", { id: "se-1" });
    const claim = tokenOf(await ledger.claim("sent", "f", { operation: "emails.send" }));
    await ledger.settle("sent", "sent", { claim, receipt: { id: "se-1" } });
    expect(await ledger.settleScheduled("se-1", "not-sent")).toBe(true);
    expect(await ledger.get("scheduled")).toBeUndefined();
    expect(await ledger.get("sent")).toMatchObject({ state: "sent" });
  });

  test("frees a scheduled email only for a person, not for its late sender", async () => {
    const ledger = open();
    const claim = await scheduling(ledger, "a");
    expect(await ledger.settle("a", "not-sent", { claim })).toBe(false);
    expect(await ledger.settle("a", "not-sent")).toBe(true);
  });

  test("returns copies of receipts, which the caller may change", async () => {
    const ledger = open();
    await scheduling(ledger, "a");
    for (const row of [await ledger.get("a"), ...(await rowsOf(ledger))])
      Object.assign(Object(row?.receipt), { id: "" });
    expect(await ledger.get("a")).toMatchObject({ receipt: scheduled });
  });
};
