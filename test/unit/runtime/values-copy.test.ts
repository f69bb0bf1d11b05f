import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { recordBatch } from "../../../src/batch/record-batch.ts";
import { writtenCopy } from "../../../src/runtime/values.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

test("later changes at any depth do not reach a copy", () => {
  const given = { at: new Date(0), list: [{ n: 1 }], inner: { deep: { n: 1 } } };
  const taken = writtenCopy(given);
  given.at.setTime(1);
  given.list.push({ n: 2 });
  Object.assign(given.inner.deep, { n: 3 });
  expect(taken).toEqual({ at: new Date(0), list: [{ n: 1 }], inner: { deep: { n: 1 } } });
});

test("values of another realm are copied too", () => {
  const given = runInNewContext("({ list: [{ n: 1 }], at: new Date(0) })");
  const taken = writtenCopy(given);
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

test("values that JSON refuses stay unchanged", () => {
  const given = [new Map(), new Row(), 1n, undefined, null, Number.NaN];
  const taken = writtenCopy(given);
  expect(taken.map((item, at) => Object.is(item, given[at]))).toEqual(given.map(() => true));
});

test("the copy of a cyclic object is cyclic, so that the check can refuse it by name", () => {
  const given: { self?: object } = {};
  given.self = given;
  const taken = writtenCopy(given);
  expect([taken === given, taken.self === taken]).toEqual([false, true]);
});

test("objects with toJSON, class instances and wrapped values are copied as JSON writes them", () => {
  class Person {
    readonly name = "Ada";
    get email(): string {
      return "ada@example.com";
    }
  }
  const input = {
    url: new URL("https://a.example"),
    own: { toJSON: (key: string) => ({ key, inner: { toJSON: () => "deep" } }) },
    person: new Person(),
    text: new String("boxed"),
    // biome-ignore lint/suspicious/noSparseArray: JSON writes the hole as null, which the check refuses.
    list: [1, , new URL("https://b.example")],
  };
  expect(writtenCopy(input)).toEqual({
    url: "https://a.example/",
    own: { key: "own", inner: "deep" },
    person: { name: "Ada" },
    text: "boxed",
    list: [1, undefined, "https://b.example/"],
  });
});

test.each([
  ["null", () => null],
  ["undefined", () => undefined],
  [
    "an error",
    () => {
      throw new Error("invalid");
    },
  ],
])("an object whose class has a toJSON that ends in %s stays itself in the copy", (_what, toJSON) => {
  class Moment {
    readonly at = 1;
    toJSON(): unknown {
      return toJSON();
    }
  }
  const moment = new Moment();
  expect(writtenCopy({ moment }).moment).toBe(moment);
});

test("an object whose toJSON returns null is not null in the copy", () => {
  expect(writtenCopy({ at: { valid: false, toJSON: () => null } }).at).not.toBeNull();
});

test("an accessor is read once", () => {
  let reads = 0;
  const copy = writtenCopy({
    get count() {
      reads += 1;
      return reads;
    },
  });
  expect([copy, reads]).toEqual([{ count: 1 }, 1]);
});

test("a field with the name of the prototype stays a field", () => {
  const taken = writtenCopy(JSON.parse('{"__proto__":{"n":1}}'));
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
