import { describe, expect, test } from "vitest";
import { sendBatch } from "../../../src/batch/send-batch.ts";
import { ResponseValidationError } from "../../../src/errors.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const indexed = [7, 8].map((index) => ({ index, event: anEvent({ id: `e${index}` }) }));
const sendWith = (answers: readonly unknown[]) => {
  const clock = new FakeClock();
  let round = 0;
  const call = scriptedCall(async () => answers[Math.min(round++, answers.length - 1)]);
  return clock.until(sendBatch(indexed, { call, clock, options: {} }));
};
const ok = { status: 202, id: "e", outcome: "PROCESSED" };

describe("sendBatch", () => {
  test.each([
    ["the documented sentence", { status: 400, error: "bad" }, 400, "bad"],
    ["an error object", { status: 404, error: { message: "gone" } }, 404, "gone"],
    ["a nested error", { status: 409, error: { error: "clash" } }, 409, "clash"],
    ["a message beside a status", { status: 422, message: "odd" }, 422, "odd"],
    ["a status written as text", { status: "400", error: "bad" }, 400, "bad"],
    ["a word for a status", { status: "failed", message: "bad" }, 400, "bad"],
    ["a sentence alone", { error: "bad" }, 400, "bad"],
    ["a flag", { id: "e7", success: false }, 400, "status 400"],
    ["its id and a sentence", { id: "e7", message: "bad" }, 400, "bad"],
    ["a status alone", { status: 418 }, 418, "status 418"],
  ])("reads a failure told by %s", async (_name, item, status, error) => {
    const [first, second] = await sendWith([{ results: [item, ok] }]);
    expect(first).toMatchObject({ index: 7, status, error });
    expect(second).toMatchObject({ index: 8, status: 202, error: undefined });
  });

  test("a success without its status is known by its id or outcome", async () => {
    const results = await sendWith([{ results: [{ id: "e7" }, { outcome: "NO_CONTACT" }] }]);
    expect(results.map(({ status }) => status)).toEqual([202, 202]);
  });

  test.each([[[]], [[null, null]], [[{}, {}]], [[{ status: "weird" }, "x"]]])(
    "results that say nothing, %j, are asked for again",
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
    const call = scriptedCall(async () => {
      requests += 1;
      return { results: [] };
    });
    const results = await clock.until(sendBatch(indexed, { call, clock, options: { maxRetries } }));
    expect([requests, ...results.map(({ status }) => status)]).toEqual([times, 0, 0]);
  });

  test("what cannot be read after every repeat is told as it came", async () => {
    const results = await sendWith([
      { results: [{ status: "failed" }, ok] },
      { results: [{ status: "failed" }] },
    ]);
    expect(results).toMatchObject([
      { index: 7, status: 0, error: '{"status":"failed"}' },
      { index: 8, status: 202 },
    ]);
  });

  test("an answer without results is an error with an unknown outcome", async () => {
    const failing = sendWith([{ accepted: 1, rejected: 1 }]);
    await expect(failing).rejects.toBeInstanceOf(ResponseValidationError);
    await expect(failing).rejects.toMatchObject({ outcome: "unknown" });
  });
});
