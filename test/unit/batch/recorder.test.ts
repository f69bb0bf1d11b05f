import { expect, test } from "vitest";
import { Recorder } from "../../../src/batch/recorder.ts";
import {
  type DroppedEvent,
  type RecorderOptions,
  recorderSettings,
} from "../../../src/batch/recorder-options.ts";
import { ConfigurationError, ConnectionError, ValidationError } from "../../../src/errors.ts";
import { issuesOf } from "../../../src/service/check.ts";
import { EventBatch } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

type Item = { readonly status: number; readonly error?: string; readonly outcome?: string };

/** A recorder over a service that answers each batch as told, after 100 ms. */
const recording = (
  options: RecorderOptions = {},
  answerTo: (id: string) => Item = () => ({ status: 202 }),
) => {
  const clock = new FakeClock();
  const batches: string[] = [];
  const send = async (payload: unknown): Promise<unknown> => {
    if (issuesOf(EventBatch, payload).length > 0) throw new Error("not a batch");
    // Checked by the line above.
    const ids = (payload as EventBatch).events.map(({ id }) => String(id));
    batches.push(`${clock.now()} ${ids.join()}`);
    await clock.sleep(100);
    return { accepted: 0, rejected: 0, results: ids.map((id) => ({ id, ...answerTo(id) })) };
  };
  const call = scriptedCall(clock, (_operation, payload) => send(payload));
  let closed = 0;
  const recorder = new Recorder(recorderSettings(options), {
    call,
    onClose: () => {
      closed += 1;
    },
  });
  return { clock, batches, recorder, closed: () => closed };
};

const event = (id: string) => anEvent({ id });

test("a batch leaves when it is full", async () => {
  const { clock, batches, recorder } = recording({ maxBatch: 2 });
  const all = ["a", "b", "c", "d"].map((id) => recorder.record(event(id)));
  await turn();
  expect(batches).toEqual(["0 a,b", "0 c,d"]);
  await clock.until(Promise.all(all));
});

test("a batch that is not full leaves when its first event has waited long enough", async () => {
  const { clock, batches, recorder } = recording({ maxDelayMs: 50 });
  const first = recorder.record(event("a"));
  await clock.advance(30);
  const second = recorder.record(event("b"));
  await clock.until(Promise.all([first, second]));
  expect(batches).toEqual(["50 a,b"]);
});

test("every batch waits for the same time after its first event, however the previous batch was sent", async () => {
  const { clock, batches, recorder } = recording({ maxBatch: 3, maxDelayMs: 50 });
  for (const [ms, ids] of [
    [30, "a"],
    [30, "b"],
    [10, "c"],
    [60, "def"],
    [100, "g"],
  ] as const) {
    for (const id of ids) void recorder.record(event(id));
    await clock.advance(ms);
  }
  expect(batches).toEqual(["50 a,b", "70 c,d,e", "120 f", "180 g"]);
});

test("each caller gets its own result", async () => {
  const { clock, recorder } = recording({}, (id) =>
    id === "b" ? { status: 409, error: "two contacts" } : { status: 202 },
  );
  const all = ["a", "b"].map((id) => recorder.record(event(id)));
  expect(await clock.until(Promise.all(all))).toMatchObject([
    { index: 0, id: "a", status: 202, state: "recorded" },
    { index: 0, id: "b", status: 409, state: "refused", error: "two contacts" },
  ]);
});

test("an event that does not fit rejects its own caller only", async () => {
  const { clock, batches, recorder } = recording();
  const good = recorder.record(event("a"));
  await expect(recorder.record({ ...event("b"), name: "" })).rejects.toBeInstanceOf(ValidationError);
  await clock.until(good);
  expect(batches).toEqual(["50 a"]);
});

test("an event without an id is given one", async () => {
  const { clock, recorder } = recording();
  const result = await clock.until(recorder.record(anEvent()));
  expect(result).toMatchObject({ state: "recorded", id: expect.stringMatching(/^[\da-f-]{36}$/) });
});

test("while four batches are under way the next one fills up", async () => {
  const { clock, batches, recorder } = recording({ maxBatch: 2, maxDelayMs: 0 });
  const all: Promise<unknown>[] = [];
  for (const id of ["a", "b", "c", "d", "e", "f"]) {
    all.push(recorder.record(event(id)));
    await clock.advance(1);
  }
  await clock.until(Promise.all(all));
  expect(batches).toEqual(["0 a", "1 b", "2 c", "3 d", "100 e,f"]);
});

test("flush sends at once what is there and resolves when it is settled", async () => {
  const { clock, batches, recorder } = recording({ maxDelayMs: 10_000 });
  void recorder.record(event("a"));
  await clock.until(recorder.flush());
  expect([batches, clock.now(), recorder.pending]).toEqual([["0 a"], 100, 0]);
});

test("a flush of nothing does not hurry the events after it", async () => {
  const { clock, batches, recorder } = recording({ maxDelayMs: 50 });
  await recorder.flush();
  await clock.until(recorder.record(event("a")));
  expect(batches).toEqual(["50 a"]);
});

test("close settles everything and takes no more", async () => {
  const { clock, batches, recorder, closed } = recording({ maxBatch: 2, maxDelayMs: 10_000 });
  const all = ["a", "b", "c"].map((id) => recorder.record(event(id)));
  const closing = recorder.close();
  await expect(recorder.record(event("d"))).rejects.toBeInstanceOf(ConfigurationError);
  expect(closed()).toBe(0);
  await clock.until(closing);
  await Promise.all(all);
  expect([batches, closed(), clock.pending]).toEqual([["0 a,b", "0 c"], 1, 0]);
});

test("closed twice, it tells its client once", async () => {
  const { clock, recorder, closed } = recording();
  void recorder.record(event("a"));
  await clock.until(Promise.all([recorder.close(), recorder.close()]));
  await recorder.close();
  expect(closed()).toBe(1);
});

test("leaving its scope closes it", async () => {
  const { clock, batches, recorder } = recording({ maxDelayMs: 10_000 });
  void recorder.record(event("a"));
  await clock.until(recorder[Symbol.asyncDispose]());
  expect(batches).toEqual(["0 a"]);
});

test("a request that finally fails rejects every caller and goes to onDrop", async () => {
  const dropped: DroppedEvent[] = [];
  const lost = new ConnectionError("no service");
  const { clock, recorder } = recording({ onDrop: (one) => dropped.push(one) }, () => {
    throw lost;
  });
  const results = await clock.until(
    Promise.allSettled([recorder.record(event("a")), recorder.record(event("b"))]),
  );
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(dropped).toEqual([
    { event: event("a"), error: lost },
    { event: event("b"), error: lost },
  ]);
});

test("an ignored promise is an unhandled rejection without onDrop, but not with it", async () => {
  const unhandled: unknown[] = [];
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => unhandled.push(error));
  const failing = (): never => {
    throw new ConnectionError("no service");
  };
  const quiet = recording({ onDrop: () => undefined }, failing);
  const loud = recording({}, failing);
  void quiet.recorder.record(event("a"));
  await quiet.clock.advance(200);
  expect(unhandled.length).toBe(0);
  void loud.recorder.record(event("a"));
  await loud.clock.advance(200);
  process.removeAllListeners("unhandledRejection");
  for (const listener of listeners) process.on("unhandledRejection", listener);
  expect(unhandled.length).toBe(1);
});

test("an onDrop that fails, at once or later, crashes nothing and keeps no other event's failure back", async () => {
  const unhandled: unknown[] = [];
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => unhandled.push(error));
  const told: (string | undefined)[] = [];
  const { clock, recorder } = recording(
    {
      onDrop: ({ event: { id } }) => {
        told.push(id);
        const failure = new Error("mine");
        if (id === "a") throw failure;
        return Promise.reject(failure);
      },
    },
    () => {
      throw new ConnectionError("no service");
    },
  );
  const both = [recorder.record(event("a")), recorder.record(event("b"))];
  const results = await clock.until(Promise.allSettled(both));
  await turn();
  process.removeAllListeners("unhandledRejection");
  for (const listener of listeners) process.on("unhandledRejection", listener);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([told, unhandled]).toEqual([["a", "b"], []]);
});

test("every fault of the options is named at once", () => {
  expect(() => recorderSettings({ maxBatch: 101, maxDelayMs: -1 })).toThrow(
    "events.recorder: maxBatch must be a whole number from 1 to 100, got 101; maxDelayMs must be a number of at least 0, got -1",
  );
});

test("onOutcome gets each recorded event with its number, and an error in it affects no other event", async () => {
  const told: unknown[] = [];
  const onOutcome: RecorderOptions["onOutcome"] = ({ event, index, outcome }) => {
    told.push([event.id, index, outcome]);
    throw new Error("of the program");
  };
  const { clock, recorder } = recording({ onOutcome, maxBatch: 2 }, (id) =>
    id === "b" ? { status: 400, error: "no" } : { status: 202, outcome: "TOO_OLD" },
  );
  const results = ["a", "b", "c"].map((id) => recorder.record(event(id)));
  await clock.advance(200);
  expect((await Promise.all(results)).map(({ state }) => state)).toEqual(["recorded", "refused", "recorded"]);
  expect(told).toEqual([
    ["a", 0, "TOO_OLD"],
    ["c", 2, "TOO_OLD"],
  ]);
});
