import { describe, expect, test } from "vitest";
import { type BatchItemResult, isMissing, readBatchAnswer } from "../../../src/batch/batch-answer.ts";
import { anEvent } from "../../support/builders.ts";

const ids = ["a", "b", "c"];
const sent = ids.map((id, index) => ({ index, event: anEvent({ id }) }));
const read = (answer: object, events = sent): readonly BatchItemResult[] | undefined =>
  // What comes from the service may have any shape.
  readBatchAnswer(events, answer as never);
const errorOf = (result: BatchItemResult | undefined): string | undefined =>
  result !== undefined && "error" in result ? result.error : undefined;
const statuses = (answer: object, events = sent) => read(answer, events)?.map(({ status }) => status);
const gone = { status: 404, error: "gone" };
const ok = { status: 202 };

describe("the event of a result", () => {
  test("is found by the ids that were sent, in any order", () => {
    const results = [
      { ...ok, id: "c" },
      { ...gone, id: "a" },
      { ...ok, id: "b" },
    ];
    expect(statuses({ results })).toEqual([404, 202, 202]);
  });

  test("an omitted result is missing, and does not shift the other results", () => {
    expect(statuses({ results: [{ ...gone, id: "c" }] })).toEqual([0, 0, 404]);
  });

  test("if ids are in another order, a result without an id belongs to no event", () => {
    expect(statuses({ results: [{ ...ok, id: "c" }, gone, { ...ok, id: "a" }] })).toEqual([202, 0, 202]);
  });

  test("is found by position if ids do not contradict it", () => {
    expect(statuses({ results: [{ ...ok, id: "a" }, gone, { ...ok, id: "c" }] })).toEqual([202, 404, 202]);
  });

  test.each([
    ["one id is the service's own", ["c", "b", "srv-1"]],
    ["an id appears twice", ["c", "c", "a"]],
    ["no id is known", ["x", "y", "z"]],
  ])("is found by position if %s", (_name, given) => {
    const results = given.map((id, at) => ({ ...(at === 0 ? gone : ok), id }));
    expect(statuses({ results })).toEqual([404, 202, 202]);
  });

  test("is found by position if events share an id", () => {
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
  ])("is absent if %s", (_name, counts) => {
    expect(statuses({ ...counts, results: [{}, {}, {}] })).toEqual([0, 0, 0]);
    expect(read(counts)).toBeUndefined();
  });

  test.each([[[{}, gone, {}]], [[{}, { ok: false }, {}]], [[gone]]])(
    "is ignored if there is a failure, as in %j",
    (results) => {
      const given = statuses({ accepted: 3, rejected: 0, results });
      expect(given?.[0]).toBe(0);
      expect(given).not.toContain(202);
    },
  );
});

describe("the content of a result", () => {
  const first = (item: unknown) => read({ results: [item, ok, ok] })?.[0];

  test.each([
    [{ status: 100 }, '{"status":100}'],
    [{ status: 199 }, '{"status":199}'],
    [{ status: 200 }, undefined],
    [{ status: 299 }, undefined],
    [{ status: 300 }, '{"status":300}'],
  ])("%j is a success from 200 to 299 only", (item, error) => {
    const { id, name } = anEvent({ id: "a" });
    const told =
      error === undefined ? { state: "recorded", id, name, duplicate: false } : { state: "refused", error };
    expect(first(item)).toEqual({ ...item, index: 0, ...told });
  });

  test.each([
    ["a number that is no status, the id decides nothing", { status: 99, id: "a" }, 0],
    ["a broken number, the id decides nothing", { status: 202.5, id: "a" }, 0],
    ["a word, the id decides nothing", { status: "seen", id: "a" }, 0],
    ["null, the id decides", { status: null, id: "a" }, 202],
    ["left out and no error, the id decides", { error: null, id: "a" }, 202],
    ["left out, an error without a sentence is no success", { error: { code: 7 }, id: "a" }, 0],
    ["left out, a list of errors is no success", { errors: [], id: "a" }, 0],
  ])("if the status is %s", (_name, item, status) => {
    expect(first(item)?.status).toBe(status);
  });

  test("the sentence of its error comes before any other", () => {
    expect(errorOf(first({ status: 400, error: "no name", message: "Bad Request" }))).toBe("no name");
  });

  test.each([[null], [undefined]])(
    "%s is a result that is missing, and not one that cannot be read",
    (item) => {
      const given = [first(item), first({})];
      expect(given.map((result) => result && isMissing(result))).toEqual([true, false]);
      expect(given[0]).toEqual({
        index: 0,
        status: 0,
        state: "unknown",
        error: "the service returned no result for this event",
      });
    },
  );
});

describe("a result that cannot be read", () => {
  test.each([
    [{ status: "failed" }, '{"status":"failed"}'],
    [{}, "{}"],
    ["no", '"no"'],
    [[1], "[1]"],
  ])("%j is reported unchanged", (item, error) => {
    expect(read({ results: [item, ok, ok] })?.[0]).toMatchObject({ index: 0, status: 0, error });
  });

  test.each([
    [{ status: 400, errors: [{ field: "name" }] }, '{"status":400,"errors":[{"field":"name"}]}'],
    [{ status: 422, error: { code: 7 } }, '{"status":422,"error":{"code":7}}'],
    [{ status: 404, id: "a", name: "opened" }, '{"status":404,"id":"a","name":"opened"}'],
  ])("%j, which failed without a sentence, is reported completely", (item, error) => {
    expect(errorOf(read({ results: [item, ok, ok] })?.[0])).toBe(error);
  });

  test("is cut if it is long", () => {
    const long = [487, 10_000].map((length) => ({ status: "x".repeat(length) }));
    expect(read({ results: [...long, ok] })?.map(errorOf)).toEqual([
      JSON.stringify(long[0]),
      `{"status":"${"x".repeat(489)}…`,
      undefined,
    ]);
  });

  test.each([
    ["an array", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
    ["a failure", `{"status":400,"why":${"[".repeat(50_000)}${"]".repeat(50_000)}}`],
    ["an error", `{"status":400,"error":${'{"error":'.repeat(50_000)}1${"}".repeat(50_000)}}`],
  ])("does not hide the others if %s is nested endlessly", (_what, json) => {
    const results = read({ results: [JSON.parse(json), ok, ok] });
    expect(results?.map((result) => [result.state === "recorded", typeof errorOf(result)])).toEqual([
      [false, "string"],
      [true, "undefined"],
      [true, "undefined"],
    ]);
  });

  test("counts as recorded if the event was already there", () => {
    expect(statuses({ results: [{ status: "seen", duplicate: true }, ok, ok] })).toEqual([202, 202, 202]);
  });
});

test.each([
  [{ status: 202, outcome: "TOO_OLD", runsStarted: 1, duplicate: true }, "recorded"],
  [{ status: 400, error: "no name" }, "refused"],
  [{ status: 429, error: "slow down" }, "refused"],
  [{ status: 500, error: "broken" }, "unknown"],
  [{ status: 503 }, "unknown"],
  [{ status: 408 }, "unknown"],
  [{ status: 524 }, "unknown"],
  [{ status: "seen" }, "unknown"],
  [null, "unknown"],
] as const)("of %j the state is %s", (item, state) => {
  expect(read({ results: [item, ok, ok] })?.[0]?.state).toBe(state);
});

test("a recorded event has its id, its name, and whether it was there before", () => {
  const items = [{ ...ok, outcome: "PROCESSED", runsStarted: 2 }, { ...ok, id: "srv", duplicate: true }, ok];
  expect(read({ results: items })?.slice(0, 2)).toEqual([
    {
      ...{ index: 0, status: 202, state: "recorded" },
      ...{ id: "a", name: "order.placed", outcome: "PROCESSED", runsStarted: 2, duplicate: false },
    },
    { index: 1, status: 202, state: "recorded", id: "srv", name: "order.placed", duplicate: true },
  ]);
});
