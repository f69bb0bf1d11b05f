import { expect, test } from "vitest";
import { claimNumber, KeyIndex, type Place } from "../../../src/ledger/key-index.ts";

const placeOf = (at: number): Place => ({
  state: (["free", "pending", "unknown", "sent"] as const)[at % 4] ?? "free",
  claimAt: at * 2 ** 33,
  receiptAt: at * 2 ** 34,
  claim: claimNumber(`claim ${at}`),
});

test("every key is found as it was set last, and no other", () => {
  const index = new KeyIndex();
  const keys = 20_000;
  for (let at = 0; at < keys; at += 1) index.set(`welcome:${at}`, placeOf(at));
  for (let at = 0; at < keys; at += 3) index.set(`welcome:${at}`, placeOf(at + 1));
  const found = Array.from({ length: keys }, (_, at) => index.get(`welcome:${at}`));
  expect(found).toEqual(found.map((_, at) => placeOf(at % 3 === 0 ? at + 1 : at)));
  expect(index.get(`welcome:${keys}`)).toBeUndefined();
});

test("claims are told apart by their numbers", () => {
  const numbers = new Set(Array.from({ length: 50_000 }, () => claimNumber(crypto.randomUUID())));
  expect(numbers.size).toBe(50_000);
  expect([...numbers].every(Number.isSafeInteger)).toBe(true);
});
