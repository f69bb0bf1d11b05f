import { describe, expect, test } from "vitest";
import { type BatchItemResult, readBatchAnswer } from "../../../src/batch/batch-answer.ts";
import { anEvent } from "../../support/builders.ts";

const ids = ["a", "b", "c"];
const sent = ids.map((id, index) => ({ index, event: anEvent({ id }) }));
const read = (answer: object, events = sent): readonly BatchItemResult[] | undefined =>
  // What comes from the service may have any shape.
  readBatchAnswer(events, answer as never);
const statuses = (answer: object, events = sent) => read(answer, events)?.map(({ status }) => status);
const gone = { status: 404, error: "gone" };
const ok = { status: 202 };

describe("whose result it is", () => {
  test("is told by the ids that were sent, in whatever order they come", () => {
    const results = [
      { ...ok, id: "c" },
      { ...gone, id: "a" },
      { ...ok, id: "b" },
    ];
    expect(statuses({ results })).toEqual([404, 202, 202]);
  });

  test("a result that is left out is missing, and takes nobody else's place", () => {
    expect(statuses({ results: [{ ...gone, id: "c" }] })).toEqual([0, 0, 404]);
  });

  test("where ids stand in another order, a result without one belongs to nobody", () => {
    expect(statuses({ results: [{ ...ok, id: "c" }, gone, { ...ok, id: "a" }] })).toEqual([202, 0, 202]);
  });

  test("is told by its place where ids do not contradict it", () => {
    expect(statuses({ results: [{ ...ok, id: "a" }, gone, { ...ok, id: "c" }] })).toEqual([202, 404, 202]);
  });

  test.each([
    ["one id is the service's own", ["c", "b", "srv-1"]],
    ["an id comes twice", ["c", "c", "a"]],
    ["no id is known", ["x", "y", "z"]],
  ])("is told by its place where %s", (_name, given) => {
    const results = given.map((id, at) => ({ ...(at === 0 ? gone : ok), id }));
    expect(statuses({ results })).toEqual([404, 202, 202]);
  });

  test("is told by its place where events share an id", () => {
    const twice = ["a", "b", "a"].map((id, index) => ({ index, event: anEvent({ id }) }));
    const results = [gone, { ...ok, id: "a" }, { ...ok, id: "b" }];
    expect(statuses({ results }, twice)).toEqual([404, 202, 202]);
  });

  test.each([[[gone]], [[gone, ok, ok, ok]]])(
    "is unknown for %j, of another number and without ids",
    (results) => {
      expect(statuses({ results })).toEqual([0, 0, 0]);
    },
  );
});

describe("a count of accepted events that covers them all", () => {
  test.each([
    ["no results", {}],
    ["an empty list of results", { results: [] }],
    ["results without a status", { results: [{}, { note: "x" }, null] }],
    ["a word for a status", { results: ids.map(() => ({ status: "recorded" })) }],
    ["too few results", { results: [ok] }],
  ])("is enough with %s", (_name, answer) => {
    expect(statuses({ accepted: 3, rejected: 0, ...answer })).toEqual([202, 202, 202]);
    expect(statuses({ accepted: "3", ...answer })).toEqual([202, 202, 202]);
  });

  test.each([
    ["fewer were accepted", { accepted: 2, rejected: 0 }],
    ["some were rejected as well", { accepted: 3, rejected: 1 }],
    ["there is no count", {}],
    ["the count is null", { accepted: null }],
  ])("is not there where %s", (_name, counts) => {
    expect(statuses({ ...counts, results: [{}, {}, {}] })).toEqual([0, 0, 0]);
    expect(read(counts)).toBeUndefined();
  });

  test.each([[[{}, gone, {}]], [[{}, { ok: false }, {}]], [[gone]]])(
    "counts for nothing beside a failure, as in %j",
    (results) => {
      const given = statuses({ accepted: 3, rejected: 0, results });
      expect(given?.[0]).toBe(0);
      expect(given).not.toContain(202);
    },
  );
});

describe("a result that cannot be read", () => {
  test.each([
    [{ status: "failed" }, '{"status":"failed"}'],
    [{}, "{}"],
    ["no", '"no"'],
    [[1], "[1]"],
  ])("%j is told as it came", (item, error) => {
    expect(read({ results: [item, ok, ok] })?.[0]).toMatchObject({ index: 0, status: 0, error });
  });

  test.each([
    [{ status: 400, errors: [{ field: "name" }] }, '{"status":400,"errors":[{"field":"name"}]}'],
    [{ status: 422, error: { code: 7 } }, '{"status":422,"error":{"code":7}}'],
    [{ status: 404, id: "a", name: "opened" }, "status 404"],
  ])("of %j, which failed without a sentence, all is told", (item, error) => {
    expect(read({ results: [item, ok, ok] })?.[0]?.error).toBe(error);
  });

  test("is cut where it is long", () => {
    const [first] = read({ results: [{ status: "x".repeat(10_000) }, ok, ok] }) ?? [];
    expect(first?.error).toBe(`{"status":"${"x".repeat(489)}…`);
  });

  test("counts as recorded where it says that the event was there before", () => {
    expect(statuses({ results: [{ status: "seen", duplicate: true }, ok, ok] })).toEqual([202, 202, 202]);
  });
});
