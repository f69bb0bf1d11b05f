import { assert, expect, test } from "vitest";
import { recordBatch } from "../../../src/batch/record-batch.ts";
import { ConnectionError } from "../../../src/errors.ts";
import type { EventBatch, EventInput } from "../../../src/service/events.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

/** Records events with a service that answers for each by its id, and counts the requests. */
const recording = async (events: readonly EventInput[], answerTo: (id: string) => object) => {
  const clock = new FakeClock();
  let requests = 0;
  const logged: object[] = [];
  const answering = async (_operation: unknown, payload: unknown) => {
    requests += 1;
    await clock.sleep(10);
    // Checked before it is sent.
    return { results: (payload as EventBatch).events.map(({ id }) => answerTo(String(id))) };
  };
  const silent = { debug: () => undefined, info: () => undefined, error: () => undefined };
  const logger = { ...silent, warn: (_text: string, fields: object) => void logged.push(fields) };
  const call = scriptedCall(clock, answering, { logger });
  const ended = recordBatch(events, { call, options: {} }).then(
    (report) => ({ report }),
    (error: unknown) => ({ error }),
  );
  return { ...(await clock.until(ended)), requests, logged };
};

const events = (count: number) => Array.from({ length: count }, (_, at) => anEvent({ id: `e${at}` }));
const ok = () => ({ status: 202 });

test("the report counts what was recorded and what was not", async () => {
  const ended = await recording(events(3), (id) => ({ status: id === "e1" ? 404 : 202 }));
  expect(ended).toMatchObject({
    report: { accepted: 2, rejected: 1, results: [{}, { index: 1, status: 404 }, {}] },
    requests: 1,
  });
});

test("an invalid event is refused with its field, and the others go", async () => {
  const ended = await recording([...events(2), anEvent({ name: "" })], ok);
  expect(ended).toMatchObject({
    report: {
      accepted: 2,
      rejected: 1,
      results: [{}, {}, { index: 2, state: "refused", status: 400, error: "name: must not be empty" }],
    },
    requests: 1,
    logged: [{ operation: "events.recordBatch", fields: ["events[2].name"] }],
  });
});

test("a value that is not an event is refused too", async () => {
  const ended = await recording([null as unknown as EventInput, ...events(1)], ok);
  expect(ended).toMatchObject({
    report: { accepted: 1, results: [{ index: 0, state: "refused" }, { index: 1 }] },
  });
});

test.each([
  ["no valid event", [anEvent({ name: "" }), anEvent({ id: "" })], ["events[0].name", "events[1].id"]],
  ["no array", { length: 1 } as unknown as EventInput[], ["events"]],
])("%s: a ValidationError, and nothing is sent", async (_name, given, paths) => {
  const ended = await recording(given, ok);
  expect(ended).toMatchObject({
    error: { code: "input_invalid", issues: paths.map((path) => ({ path })), partial: undefined },
    requests: 0,
    logged: [],
  });
});

test("a failed request rejects with the other requests' results and the events that are left", async () => {
  const given = events(150);
  const ended = await recording(given, (id) => {
    if (id === "e0") throw new ConnectionError("no service");
    return ok();
  });
  assert("error" in ended && ended.error instanceof ConnectionError);
  const { error, ...rest } = ended;
  expect(rest).toEqual({ requests: 2, logged: [] });
  // The other request had an effect.
  expect([error.message, error.outcome]).toEqual(["no service", "unknown"]);
  expect(error.partial?.results).toMatchObject(
    given.slice(100).map(({ id }, at) => ({ ...ok(), index: at + 100, id, state: "recorded" })),
  );
  expect(error.partial?.left).toEqual(given.slice(0, 100));
});

test("the error for a single event that could not be sent reports the event as left", async () => {
  const ended = await recording(events(1), () => {
    throw new ConnectionError("no service");
  });
  expect(ended).toMatchObject({ error: { partial: { results: [], left: events(1) } } });
});
