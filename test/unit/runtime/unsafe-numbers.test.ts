import fc from "fast-check";
import { expect, test } from "vitest";
import { findUnsafeNumber, unsafeIssue } from "../../../src/runtime/unsafe-numbers.ts";
import { randomCases } from "../../support/random-cases.ts";

const found = (json: string) => {
  const unsafe = findUnsafeNumber(json);
  return unsafe && `${unsafeIssue(unsafe).path}: ${unsafe.text}`;
};

test.each([
  ['{"a":1234567890123456781}', "a: 1234567890123456781"],
  ['{"a":{"b":[0,-1234567890123456781]}}', "a.b[1]: -1234567890123456781"],
  ['{"data":[{"n":1},{"n":9007199254740993}]}', "data[1].n: 9007199254740993"],
  ["9007199254740993", ": 9007199254740993"],
  ['{"amount":12345678901234567890.50}', "amount: 12345678901234567890.50"],
])("in %s it finds %s", (json, expected) => {
  expect(found(json)).toBe(expected);
});

test.each([
  '{"a":"1234567890123456781"}',
  '{"a":9007199254740991,"b":0.12345678901234567,"c":1e21,"d":1e-400,"e":1e400}',
  '{"id":"550e8400-e29b-41d4-a716-446655440e123","card":"4111111111111111"}',
  '{"double":1.0047482360777731e+80,"whole":123456789012345680000,"power":9007199254740992}',
  '{"double":9007199254740992.0,"sum":1234567890123456.78,"php":0.10000000000000001}',
  '{"a":"see \\"1e400, 1234567890123456781\\""}',
])("in %s it finds none", (json) => {
  expect(found(json)).toBeUndefined();
});

test("it finds any whole number whose digits JSON.parse changes, wherever it stands", () => {
  const value = fc
    .bigInt({ min: 2n ** 53n, max: 2n ** 80n })
    .filter((whole) => String(Number(whole)) !== String(whole));
  const around = fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.uuid()), { maxLength: 4 });
  fc.assert(
    fc.property(value, around, fc.boolean(), fc.string(), (whole, others, isNegative, name) => {
      const number = `${isNegative ? "-" : ""}${whole}`;
      const json = `{"x":${JSON.stringify(others)},${JSON.stringify(name)}:[${number}]}`;
      expect(findUnsafeNumber(json)?.text).toBe(number);
    }),
    { numRuns: randomCases(300) },
  );
});
