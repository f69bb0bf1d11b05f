import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { issuesOf } from "../../src/service/check.ts";
import { operations } from "../../src/service/operations.ts";
import { randomCases } from "../support/random-cases.ts";
import { type Place, places } from "./properties-faults.ts";

// The same inputs in every build; PROPERTY_SEED looks at others.
const run = {
  seed: Number(process.env.PROPERTY_SEED ?? 1),
  numRuns: Number(process.env.PROPERTY_RUNS ?? randomCases(200)),
};

const inputs = new Map(
  Object.values(operations).flatMap((resource) =>
    Object.values(resource).map(({ id, input }) => [id, input]),
  ),
);

const issues = ({ id, withFields }: Place, more: object) => {
  const input = inputs.get(id);
  if (input === undefined) throw new Error(`no operation ${id}`);
  return issuesOf(input, withFields(more));
};

const letters = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

test("every operation that takes fields is looked at", () => {
  const taking = [...inputs].filter(([, input]) => issuesOf(input, undefined).length > 0).map(([id]) => id);
  expect([...new Set(places.map(({ id }) => id))].sort()).toEqual(taking.sort());
});

describe.each(places)("$id $where", (place) => {
  // Short names of few letters come close to a field.
  const name = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."aeimnost"), minLength: 1, maxLength: 6 }),
    fc.constantFrom("tag", "tags", "type", "url", "ids", "state", "cc", "from", "sortBy", "property"),
  );

  test("an unknown field that is no spelling of any of the document's is sent", () => {
    const unlike = name.filter((one) => place.fields.every((field) => letters(one) !== letters(field)));
    fc.assert(
      fc.property(unlike, fc.string(), (one, value) => {
        expect(issues(place, Object.fromEntries([[one, value]]))).toEqual([]);
      }),
      run,
    );
  });
});

const missingIn = ({ fields, withFields }: Place): readonly string[] => {
  const given = JSON.stringify(withFields({}));
  return fields.filter((field) => field.length > 3 && !given.includes(`"${field}":`));
};

describe.each(places.filter((place) => missingIn(place).length > 0))("$id $where", (place) => {
  test("another spelling of a missing field is reported, and beside the field it is sent", () => {
    const slip = fc.constantFrom(...missingIn(place)).chain((field) =>
      fc
        .tuple(fc.nat(field.length), fc.constantFrom("_", "-", "__"), fc.boolean())
        .map(([at, sign, isUpper]) => {
          const spelt = `${field.slice(0, at)}${sign}${field.slice(at)}`;
          return { field, misspelt: isUpper ? spelt.toUpperCase() : spelt };
        }),
    );
    fc.assert(
      fc.property(slip, ({ field, misspelt }) => {
        expect(issues(place, { [misspelt]: "x" })).toContainEqual({
          path: `${place.where}${misspelt}`,
          message: `there is no such field (did you mean "${field}"?)`,
        });
        const beside = issues(place, { [misspelt]: "x", [field]: "x" });
        expect(beside.filter(({ message }) => message.startsWith("there is no"))).toEqual([]);
      }),
      run,
    );
  });
});
