import { describe, expect, test } from "vitest";
import { Journal } from "../../../src/ledger/journal.ts";
import { type JournalRecord, lineOf, recordOf } from "../../../src/ledger/journal-record.ts";

const first = (id: string): JournalRecord => ({ touchpointLedger: 1, id });
const claim = (key: string): JournalRecord => ({ key, claim: `claim-${key}`, fingerprint: "f", since: 0 });
const settled = (key: string, settle: string): JournalRecord => ({
  settle,
  key,
  as: "sent",
  claim: `claim-${key}`,
});

const journalOf = (...records: readonly JournalRecord[]): Journal => {
  const journal = new Journal();
  journal.read(records.map(lineOf).join(""));
  return journal;
};

test("of two first lines the first gives the file its name", () => {
  expect(journalOf(first("one"), first("two")).id).toBe("one");
});

test("a file is worth shortening from so many lines on, and from one and a half for each key", () => {
  const once = journalOf(first("one"), claim("a"), settled("a", "1"));
  expect([3, 4].map((atLeast) => once.isWorthCompacting(atLeast))).toEqual([true, false]);
  expect(journalOf(first("one"), claim("a"), claim("b")).isWorthCompacting(1)).toBe(false);
  const both = journalOf(first("one"), claim("a"), claim("b"), settled("a", "1"), settled("b", "2"));
  expect(both.isWorthCompacting(1)).toBe(true);
});

describe("a line that no ledger wrote is refused", () => {
  test.each([
    ["hello", "it holds something else than a ledger"],
    ["5", "it is damaged, or of another version"],
    ["null", "it is damaged, or of another version"],
    ['{"touchpointLedger":2,"id":"one"}', "it is damaged, or of another version"],
    ['{"touchpointLedger":1}', "it is damaged, or of another version"],
    ['{"key":"a","claim":"b"}', "it is damaged, or of another version"],
    ['{"key":"a","entry":{}}', "it is damaged, or of another version"],
    ['{"entry":{"state":"sent","fingerprint":"f","claim":"b"}}', "it is damaged, or of another version"],
    ['{"settle":"1","key":"a"}', "it is damaged, or of another version"],
  ])("%s", (line, sentence) => {
    expect(() => recordOf(line)).toThrow(sentence);
  });
});
