import { expect, test } from "vitest";
import { createJournal, type RequestRecord } from "../../../src/sandbox/journal.ts";

const answer = { headers: { date: "now" }, body: "{}" };
const record = (status: number): RequestRecord => ({
  ...{ operation: "contacts.list", method: "GET", path: "/api/v1/contacts", query: {}, status },
  ...{ headers: { accept: "*/*" }, body: { a: 1 }, at: 0, workspace: "default", applied: true },
  ...{ limit: undefined, fault: undefined },
});
const journalOf = (keep: number, statuses: readonly number[]) => {
  const journal = createJournal(keep, () => {});
  for (const status of statuses) journal.add(record(status), answer);
  return journal;
};

test("of old successes the response goes, of what failed it stays", () => {
  const journal = journalOf(10_000, [200, 404, ...Array<number>(500).fill(200)]);
  expect(journal.exchanges.slice(0, 3).map((one) => one.answer?.body)).toEqual([undefined, "{}", "{}"]);
  expect(journal.gaps).toBe(
    "The sandbox has dropped older data. It keeps only the newest 500 successful responses.",
  );
});

test("of requests older than those kept, the row stays", () => {
  const { requests, exchanges, gaps } = journalOf(2, [500, 200, 200]);
  expect([requests.length, exchanges.length]).toEqual([2, 3]);
  expect(exchanges[0]).toMatchObject({ number: 1, request: { status: 500, body: undefined, headers: {} } });
  expect(exchanges.map(({ answer }) => answer === undefined)).toEqual([true, false, false]);
  expect(gaps).toContain("; the newest 2 requests with their headers and body.");
});

test("a journal that has everything names no gap, and one of 110,000 requests keeps 100,000", () => {
  expect(journalOf(10, [200]).gaps).toBe(undefined);
  const { exchanges, gaps } = journalOf(10, Array<number>(110_000).fill(200));
  expect([exchanges.length, exchanges[0]?.number]).toEqual([100_000, 10_001]);
  expect(gaps).toContain("; the newest 100,000 requests in the list.");
});
