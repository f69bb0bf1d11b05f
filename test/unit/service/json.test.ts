import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import { EventInput, EventProperties } from "../../../src/service/events.ts";
import { JsonRecord, jsonRecord } from "../../../src/service/json.ts";

class Money {
  readonly amount = 5;
}
class Price {
  readonly #cents = 500n;
  toJSON() {
    return { cents: String(this.#cents) };
  }
}
/** A value object of a program. */
class Plan {
  value: unknown;
}
/** As BigQuery wraps a time. */
class ShownAsValue {
  value = "2026-11-20T09:00:00.000Z";
}
// As `long`, `bson`, protobuf and Cassandra have it.
class Long {
  low = 2112454933;
  high = 287445236;
  toNumber() {
    return 2 ** 60;
  }
}
// As in Firestore.
class Timestamp {
  _seconds = 1;
  toDate() {
    return new Date(1_000);
  }
}
class Sealed {
  readonly #inside = 1;
  get inside() {
    return this.#inside;
  }
}

test.each([
  [{ link: new URL("https://example.com/") }],
  [{ at: new Date(0), deep: [{ price: new Price(), list: [null, "x", 1, true] }] }],
  [{ money: new Money() }],
  [new Money()],
  [{ plan: Object.assign(new Plan(), { value: "pro" }) }],
  [Object.assign(new Plan(), { value: 3 })],
  [new Price()],
  [Object.assign(Object.create(null), { a: 1, absent: undefined })],
])("JSON carries %o", (value) => {
  expect(issuesOf(JsonRecord, value)).toEqual([]);
});

const circle: Record<string, unknown> = {};
circle.self = { again: circle };

test.each([
  [Number.NaN, "must be a finite number, got NaN"],
  [Number.NEGATIVE_INFINITY, "must be a finite number, got -Infinity"],
  [10n, "must not be a bigint: JSON cannot represent it"],
  [() => 1, "must not be a function: JSON cannot represent it"],
  [Symbol("x"), "must not be a symbol: JSON cannot represent it"],
  [new Date(Number.NaN), "must be a valid Date"],
  [new Map([["a", 1]]), "must not be a Map: JSON would lose its contents"],
  [new Sealed(), "must not be a Sealed: JSON would lose its contents"],
  [new Uint8Array(2), "must not be a Uint8Array: JSON would lose its contents"],
  [Buffer.from("x"), "must not be a Buffer: JSON would lose its contents"],
  [new Long(), "must not be a Long: JSON would lose its contents; call .toString() on it"],
  [Object.create(Object.create(Object.create(null))), "must not be an object: JSON would lose its contents"],
  [new ShownAsValue(), "must not be a ShownAsValue: JSON would lose its contents; pass its .value"],
  [new Timestamp(), "must not be a Timestamp: JSON would lose its contents; call .toDate() on it"],
  [new Map().values(), "must not be a Map Iterator: JSON would lose its contents"],
  [Object.assign(new Error("x"), { code: 1 }), "must not be an Error: JSON would lose its contents"],
  [{ toJSON: () => Number.NaN }, "must be a finite number, got NaN"],
  [
    {
      toJSON: () => {
        throw new Error("x");
      },
    },
    "cannot be written as JSON: its toJSON throws",
  ],
])("%s is refused where it stands", (value, message) => {
  expect(issuesOf(JsonRecord, { fine: 1, list: [{ value }] })).toEqual([{ path: "list[0].value", message }]);
});

test("a cycle, and what an array would turn into null, are refused where they stand", () => {
  expect(issuesOf(JsonRecord, { circle })).toEqual([
    { path: "circle.self.again", message: "must not contain itself: JSON cannot represent a cycle" },
  ]);
  const message = "must not be undefined: JSON turns it into null in an array";
  expect(issuesOf(JsonRecord, { list: [1, undefined] })).toEqual([{ path: "list[1]", message }]);
  // biome-ignore lint/suspicious/noSparseArray: a hole is the point.
  expect(issuesOf(JsonRecord, { list: [1, , 2] })).toEqual([{ path: "list[1]", message }]);
});

test("the same object twice is no cycle", () => {
  const shared = { a: 1 };
  expect(issuesOf(JsonRecord, { first: shared, second: [shared] })).toEqual([]);
});

test.each([[[]], ["x"], [null], [new Date(0)], [new URL("https://example.com/")]])(
  "%s is no object",
  (value) => {
    expect(issuesOf(jsonRecord("must be an object of fields"), value)).toEqual([
      { path: "", message: "must be an object of fields" },
    ]);
  },
);

const path = (...faults: readonly string[]) =>
  faults.map((at) => ({ path: at, message: expect.stringMatching(/^looks like a secret/) }));

test.each([
  [{ password: "x" }, "password"],
  [{ Password: "x" }, "Password"],
  [{ SSN: 1 }, "SSN"],
  [{ fine: 1, cardNumber: 3 }, "cardNumber"],
  [{ "card number": 3 }, "card number"],
  [{ nested: { password: 4 } }, "nested.password"],
  [{ a: [1, { b: { ssn: 1 } }] }, "a[1].b.ssn"],
  [{ toJSON: () => ({ ssn: "1" }) }, "ssn"],
  [{ card: { toJSON: () => ({ CARD_NUMBER: "1" }) } }, "card.CARD_NUMBER"],
])("properties %j are refused, and the name is told", (properties, at) => {
  expect(issuesOf(EventProperties, properties)).toEqual(path(at));
});

test("what is not written, or is not the document's, is left to the service", () => {
  const properties = {
    ...{ password: undefined, passwords: 1, pwd: 2, cvc: 3, lessons: 4, list: ["ssn"], text: "password" },
    written: { ssn: 1, toJSON: () => ({ fine: 1 }) },
  };
  expect(issuesOf(EventProperties, properties)).toEqual([]);
});

const event = { name: "x", contact: { id: "1" } };
const named = (...issues: readonly (readonly [string, string])[]) =>
  issues.map(([at, message]) => ({ path: `contactFields.${at}`, message }));

test.each([
  [{ email: "ada@example.com " }, named(["email", "must not start or end with a space"])],
  [{ email: "\u00a0ada@example.com" }, named(["email", "must not start or end with a space"])],
  [{ email: "notmail" }, named(["email", "must be one email address such as ada@example.com"])],
  [{ name: 5, verified: "yes" }, named(["name", "must be a string"], ["verified", "must be a boolean"])],
  [{ listIds: [""] }, named(["listIds[0]", "must not be empty"])],
  [{ customFields: 1 }, named(["customFields", "must be an object ({ key: null } clears a key)"])],
  [{ customFields: { a: [Number.NaN] } }, named(["customFields.a[0]", "must be a finite number, got NaN"])],
  [{ linkedin: "x" }, named(["linkedin", 'there is no such field (did you mean "linkedIn"?)'])],
  [{ toJSON: () => ({ phone: 7 }) }, named(["phone", "must be a string"])],
])("contactFields %j are checked as the contact's own", (contactFields, issues) => {
  expect(issuesOf(EventInput, { ...event, contactFields })).toEqual(issues);
});

test("contactFields that fit, clear a field, or are not the document's pass", () => {
  const contactFields = {
    ...{ name: "Ada", title: null, nickname: "A", customFields: { nmae: 1, plan: null } },
  };
  expect(issuesOf(EventInput, { ...event, contactFields })).toEqual([]);
  const written = { email: 7, toJSON: () => ({ email: "ada@example.com" }) };
  expect(issuesOf(EventInput, { ...event, contactFields: written })).toEqual([]);
});
