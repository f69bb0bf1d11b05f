import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { recordBatch } from "../../../src/batch/record-batch.ts";
import { snapshot } from "../../../src/runtime/values.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

test("what is changed afterwards, however deep, does not reach a snapshot", () => {
  const given = { at: new Date(0), list: [{ n: 1 }], inner: { deep: { n: 1 } } };
  const taken = snapshot(given);
  given.at.setTime(1);
  given.list.push({ n: 2 });
  Object.assign(given.inner.deep, { n: 3 });
  expect(taken).toEqual({ at: new Date(0), list: [{ n: 1 }], inner: { deep: { n: 1 } } });
});

test("what another realm made is copied as well", () => {
  const given = runInNewContext("({ list: [{ n: 1 }], at: new Date(0) })");
  const taken = snapshot(given);
  given.list[0].n = 2;
  given.at.setTime(2);
  expect(JSON.stringify(taken)).toBe('{"list":[{"n":1}],"at":"1970-01-01T00:00:00.000Z"}');
});

class Row {
  readonly #n = 1;
  get n(): number {
    return this.#n;
  }
}

test("what JSON refuses, or a class writes by itself, stays what it was", () => {
  const own = { toJSON: () => "own" };
  const given = [new URL("https://a.example"), new Map(), new Row(), own, 1n, undefined, null, Number.NaN];
  const taken = snapshot(given);
  expect(taken.map((item, at) => Object.is(item, given[at]))).toEqual(given.map(() => true));
});

test("an object that holds itself has a snapshot that does, for the check to refuse by name", () => {
  const given: { self?: object } = {};
  given.self = given;
  const taken = snapshot(given);
  expect([taken === given, taken.self === taken]).toEqual([false, true]);
});

test("a field with the name of the prototype stays a field", () => {
  const taken = snapshot(JSON.parse('{"__proto__":{"n":1}}'));
  expect([JSON.stringify(taken), Object.getPrototypeOf(taken)]).toEqual([
    '{"__proto__":{"n":1}}',
    Object.prototype,
  ]);
});

test("every round of a batch sends the events as they were at the call", async () => {
  const clock = new FakeClock();
  const sent: string[] = [];
  const properties = { v: 1 };
  const event = anEvent({ id: "e1", properties });
  const call = scriptedCall(clock, async (_operation, payload) => {
    sent.push(JSON.stringify(payload));
    properties.v += 1;
    return { results: [{ status: sent.length < 3 ? 503 : 202 }] };
  });
  const recording = recordBatch([event], { call, options: {} });
  Object.assign(event, { name: "service.changed" });
  expect(await clock.until(recording)).toMatchObject({ accepted: 1 });
  const asGiven = JSON.stringify({ events: [anEvent({ id: "e1", properties: { v: 1 } })] });
  expect(sent).toEqual([asGiven, asGiven, asGiven]);
});

test("a batch whose schemas take their time sends what was given", async () => {
  const clock = new FakeClock();
  const sent: unknown[] = [];
  const call = scriptedCall(clock, async (_operation, payload) => {
    sent.push(payload);
    return { results: [{ status: 202 }] };
  });
  const slow = Object.assign(call, { issues: async () => [] });
  const events = [anEvent({ id: "e1" })];
  const recording = recordBatch(events, { call: slow, options: {} });
  Object.assign(events[0] ?? {}, { name: "changed" });
  await clock.until(recording);
  expect(sent).toEqual([{ events: [anEvent({ id: "e1" })] }]);
});
