import { expect, test } from "vitest";
import { issuesOf } from "../../../src/service/check.ts";
import { Moment, momentMs, writtenMoment } from "../../../src/service/timestamps.ts";

const at = Date.parse("2030-01-31T09:00:00Z");

test.each([
  "2030-01-31T09:00:00Z",
  "2030-01-31T09:00Z",
  "2030-01-31T09Z",
  "2030-01-31T11:00:00+02",
  "2030-01-31T11:00:00+0200",
  "2030-01-31T11:00:00+02:00",
  "2030-01-31T03:30:00-05:30",
  "20300131T090000Z",
  "20300131T0900Z",
  "20300131T110000.000+02",
  "2030-01-31 09:00:00Z",
  "2030-01-31t09:00:00,000z",
])("%s is a moment, written as UTC with milliseconds", (text) => {
  expect(issuesOf(Moment, text)).toEqual([]);
  expect(momentMs(text)).toBe(at);
  expect(writtenMoment(text)).toBe("2030-01-31T09:00:00.000Z");
});

test("a time is written as UTC with milliseconds", () => {
  expect(["2030-01-31T09:00:00.123456Z", "2030-01-31T09:00:00-05:00"].map(writtenMoment)).toEqual([
    "2030-01-31T09:00:00.123Z",
    "2030-01-31T14:00:00.000Z",
  ]);
});

test("a leap day, the end of a day and the first years exist", () => {
  for (const text of ["2028-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "0004-02-29T00:00:00Z"])
    expect(issuesOf(Moment, text)).toEqual([]);
  expect(writtenMoment("2030-12-31T24:00:00Z")).toBe("2031-01-01T00:00:00.000Z");
  expect(writtenMoment(new Date(at))).toBe("2030-01-31T09:00:00.000Z");
});

const example = "for example 2026-01-31T09:00:00Z or 2026-01-31T10:00:00+01:00";
const shape = `must be a Date, a Temporal.Instant, a Temporal.ZonedDateTime, or an ISO 8601 string with a time zone, ${example}`;
const zoneless = `must include a time zone, ${example}`;
const none = "must be a time that exists, got";

test.each([
  ["2030-02-30T09:00:00Z", `${none} 2030-02-30T09:00:00Z`],
  ["2030-02-29T09:00:00Z", `${none} 2030-02-29T09:00:00Z`],
  ["1900-02-29T09:00:00Z", `${none} 1900-02-29T09:00:00Z`],
  ["20300431T090000Z", `${none} 20300431T090000Z`],
  ["2030-00-10T09:00:00Z", `${none} 2030-00-10T09:00:00Z`],
  ["2030-13-10T09:00:00Z", `${none} 2030-13-10T09:00:00Z`],
  ["2030-01-00T09:00:00Z", `${none} 2030-01-00T09:00:00Z`],
  ["2030-01-31T25:00:00Z", `${none} 2030-01-31T25:00:00Z`],
  ["2030-01-31T24:00:01Z", `${none} 2030-01-31T24:00:01Z`],
  ["2030-01-31T09:60:00Z", `${none} 2030-01-31T09:60:00Z`],
  ["2030-01-31T09:00:60Z", `${none} 2030-01-31T09:00:60Z`],
  ["2030-01-31T09:00:00+24:00", `${none} 2030-01-31T09:00:00+24:00`],
  ["2030-01-31T09:00:00+02:60", `${none} 2030-01-31T09:00:00+02:60`],
  ["2030-01-31T09:00:00", zoneless],
  ["20300131T0900", zoneless],
  ["2030-01-31", shape],
  ["tomorrow", shape],
  [1_900_000_000_000, shape],
  [new Date(Number.NaN), shape],
  [new Date(8.64e15), shape],
  [null, shape],
  [Symbol("x"), shape],
  [{ toDate: () => new Date() }, `${shape}; call .toDate() on it`],
  [{ toJSDate: () => new Date() }, `${shape}; call .toJSDate() on it`],
  [{ toStandardDate: () => new Date() }, `${shape}; call .toStandardDate() on it`],
  [{ value: "2026-11-20T09:00:00.000Z" }, `${shape}; pass its .value`],
  [
    { [Symbol.toStringTag]: "Temporal.PlainDateTime" },
    "has no time zone; use toZonedDateTime(…) to make a Temporal.ZonedDateTime of the Temporal.PlainDateTime",
  ],
])("%s is refused by name", (value, message) => {
  expect(issuesOf(Moment, value)).toEqual([{ path: "", message }]);
  if (!(value instanceof Date)) expect(momentMs(value)).toBeNaN();
});
