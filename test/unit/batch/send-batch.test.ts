import { describe, expect, test } from "vitest";
import { sendBatch } from "../../../src/batch/send-batch.ts";
import { ApiError, ResponseValidationError } from "../../../src/errors.ts";
import type { EventBatch } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const indexed = [7, 8].map((index) => ({ index, event: anEvent({ id: `e${index}` }) }));
const sendWith = (answers: readonly unknown[]) => {
  const clock = new FakeClock();
  let round = 0;
  const client = scriptedCall(clock, async () => answers[Math.min(round++, answers.length - 1)]);
  const call = client.long("events.recordBatch");
  return clock.until(sendBatch(indexed, { call, options: {} }));
};
const ok = { status: 202, id: "e", outcome: "PROCESSED" };

describe("sendBatch", () => {
  test.each([
    ["the documented sentence", { status: 400, error: "bad" }, 400, "bad"],
    ["an error object", { status: 404, error: { message: "gone" } }, 404, "gone"],
    ["a nested error", { status: 409, error: { error: "clash" } }, 409, "clash"],
    ["a message beside a status", { status: 422, message: "odd" }, 422, "odd"],
    ["a status written as text", { status: "400", error: "bad" }, 400, "bad"],
    ["a status alone", { status: 418 }, 418, '{"status":418}'],
  ])("recognizes a failure by %s", async (_name, item, status, error) => {
    const [first, second] = await sendWith([{ results: [item, ok] }]);
    expect(first).toMatchObject({ index: 7, status, state: "refused", error });
    expect(second).toMatchObject({ index: 8, status: 202, state: "recorded" });
  });

  test.each([
    ["a word for a status", { status: "failed", message: "bad" }, "bad"],
    ["a sentence alone", { error: "bad" }, "bad"],
    ["a flag", { id: "e7", success: false }, '{"id":"e7","success":false}'],
    ["its id and a sentence", { id: "e7", message: "bad" }, "bad"],
  ])("a failure recognized by %s, without a status, is unknown and repeated", async (_name, item, error) => {
    const [first] = await sendWith([{ results: [item, ok] }, { results: [item] }]);
    expect(first).toMatchObject({ index: 7, status: 0, state: "unknown", error });
    const [again] = await sendWith([{ results: [item, ok] }, { results: [{ ...ok, duplicate: true }] }]);
    expect(again).toMatchObject({ index: 7, status: 202, state: "recorded", duplicate: true });
  });

  test("a success without its status is known by its id or outcome", async () => {
    const results = await sendWith([{ results: [{ id: "e7" }, { outcome: "NO_CONTACT" }] }]);
    expect(results.map(({ status }) => status)).toEqual([202, 202]);
  });

  test.each([[[]], [[null, null]], [[{}, {}]], [[{ status: "weird" }, "x"]]])(
    "events with empty results, %j, are sent again",
    async (results) => {
      const answers = await sendWith([{ results }, { results: [ok, ok] }]);
      expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    },
  );

  test.each([
    [0, 1],
    [2, 3],
    [9, 5],
    [undefined, 5],
  ])("with maxRetries %s missing results are asked for %i times", async (maxRetries, times) => {
    const clock = new FakeClock();
    let requests = 0;
    const call = scriptedCall(clock, async () => {
      requests += 1;
      return { results: [] };
    });
    const results = await clock.until(sendBatch(indexed, { call, options: { maxRetries } }));
    expect([requests, ...results.map(({ status }) => status)]).toEqual([times, 0, 0]);
  });

  test("a result that stays unreadable after every repeat is reported unchanged", async () => {
    const results = await sendWith([
      { results: [{ status: "failed" }, ok] },
      { results: [{ status: "failed" }] },
    ]);
    expect(results).toMatchObject([
      { index: 7, status: 0, error: '{"status":"failed"}' },
      { index: 8, status: 202 },
    ]);
  });

  test.each([
    ["no result", undefined],
    ["a failure of the service", { status: 503, error: "later" }],
    ["an unreadable result", { status: "weird" }],
  ])("a limit that refuses an event after %s leaves it unknown", async (_what, before) => {
    const limited = { status: 429, error: "slow" };
    const results = await sendWith([{ results: [before, limited] }, { results: [limited, limited] }]);
    expect(results).toMatchObject([
      { index: 7, status: 429, state: "unknown", error: "slow" },
      { index: 8, status: 429, state: "refused", error: "slow" },
    ]);
  });

  test("an answer without results is an error with an unknown outcome", async () => {
    const failing = sendWith([{ accepted: 1, rejected: 1 }]);
    await expect(failing).rejects.toBeInstanceOf(ResponseValidationError);
    await expect(failing).rejects.toMatchObject({
      outcome: "unknown",
      issues: [{ path: "results", message: "must be an array" }],
    });
  });

  /** What left, as time and ids, and what came of it: the service answers as told, at once. */
  const sending = async (count: number, answerTo: (ids: readonly string[]) => object) => {
    const clock = new FakeClock();
    const log: string[] = [];
    const call = scriptedCall(clock, async (_operation, payload) => {
      // As sendBatch makes it.
      const ids = (payload as EventBatch).events.map(({ id }) => String(id));
      log.push(`${clock.now()} ${ids.join("")}`);
      return answerTo(ids);
    });
    const events = [..."abcdefgh"].slice(0, count).map((id, index) => ({ index, event: anEvent({ id }) }));
    const waits: (string | undefined)[] = [];
    const onWait = (waitingFor: string | undefined) => void waits.push(waitingFor);
    const watched = call.long("events.ingest", { waits: { listener: () => onWait } });
    const ended = sendBatch(events, { call: watched, options: {} }).then(
      (results) => ({ statuses: results.map(({ status }) => status) }),
      (error: unknown) => ({ error }),
    );
    return { end: await clock.until(ended), log, waits };
  };
  const refusal = (status: number) =>
    new ApiError("refused", { status, headers: new Headers(), body: undefined });

  test("the pause before a repeat doubles, and each is reported with its end", async () => {
    const { log, waits } = await sending(1, () => ({ results: [{ status: 503 }] }));
    expect(log).toEqual(["0 a", "500 a", "1500 a", "3500 a", "7500 a"]);
    expect(waits).toEqual(Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? "retry" : undefined)));
  });

  test.each([
    [400, 1],
    [428, 1],
    [429, 2],
    [430, 1],
    [408, 2],
    [499, 2],
    [500, 2],
    [501, 1],
    [520, 2],
  ])("an event that failed with status %i is sent %i times", async (status, times) => {
    let isFirst = true;
    const { log } = await sending(2, (ids) => {
      const results = ids.map((id) => ({ id, status: id === "b" && isFirst ? status : 202 }));
      isFirst = false;
      return { results };
    });
    expect(log).toEqual(["0 ab", "500 b"].slice(0, times));
  });

  test.each([400, 413, 422])(
    "a batch that is refused with %i is halved until what was refused stands alone",
    async (status) => {
      const { end, log } = await sending(5, (ids) => {
        if (ids.includes("d")) throw refusal(status);
        return { results: ids.map((id) => ({ id, status: 202 })) };
      });
      expect(log).toEqual(["0 abcde", "0 abc", "0 de", "0 d", "0 e"]);
      expect(end).toEqual({ statuses: [202, 202, 202, status, 202] });
    },
  );

  test.each([401, 404, 414, 423])("a batch that is refused with %i is refused as a whole", async (status) => {
    const { end, log } = await sending(5, () => {
      throw refusal(status);
    });
    expect(end).toMatchObject({ error: { status } });
    expect(log).toEqual(["0 abcde"]);
  });

  test("no events are not sent", async () => {
    expect(await sending(0, () => ({ results: [] }))).toEqual({
      end: { statuses: [] },
      log: [],
      waits: [],
    });
  });
});

test.each<[string, readonly number[], number, boolean]>([
  ["none was taken", [429, 429], 1, false],
  ["one was refused, and one comes later", [404, 429], 1, false],
  ["one was recorded", [202, 429], 1, true],
  ["one failed", [500, 404], 1, true],
  ["none was taken, by the second attempt", [429, 429], 2, true],
])("whether some events may be recorded: %s", async (_, statuses, attempts, isPossible) => {
  const answering = async () => ({ results: statuses.map((status) => ({ status, error: "no" })) });
  const call = scriptedCall(new FakeClock(), answering, { attempts }).long("events.recordBatch");
  await sendBatch(indexed, { call, options: { maxRetries: 0 } });
  expect(call.mayHaveTakenEffect).toBe(isPossible);
});
