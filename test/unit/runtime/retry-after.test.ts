import { describe, expect, test } from "vitest";
import { retryAfterMs } from "../../../src/runtime/headers.ts";

const now = Date.parse("1994-11-06T08:49:07Z");

describe("retryAfterMs", () => {
  test.each([
    ["0", 0],
    ["1", 1_000],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["0.5", 500],
    ["1.0004", 1_001],
    ["2.3", 2_300],
    ["007", 7_000],
  ])("reads %j as seconds and never rounds down", (value, ms) => {
    expect(retryAfterMs({ "retry-after": value }, now)).toBe(ms);
  });

  test.each([
    ["IMF-fixdate", "Sun, 06 Nov 1994 08:49:37 GMT"],
    ["RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT"],
    ["asctime, day padded with a blank", "Sun Nov  6 08:49:37 1994"],
    ["asctime, two digits", "Sun Nov 06 08:49:37 1994"],
  ])("reads a date in the form %s", (_form, value) => {
    expect(retryAfterMs({ "retry-after": value }, now)).toBe(30_000);
  });

  test("a date is read against the answer's own date, however wrong this side's clock is", () => {
    const headers = { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:27 GMT" };
    expect(retryAfterMs(headers, now + 3_600_000)).toBe(10_000);
    expect(retryAfterMs(headers, now - 3_600_000)).toBe(10_000);
  });

  test("an unreadable date of the answer leaves this side's clock", () => {
    expect(retryAfterMs({ "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT", date: "noon" }, now)).toBe(30_000);
  });

  test.each([
    ["several headers", ["2", "7", "soon"], 7_000],
    ["headers that a fetch has joined", "7, 2", 7_000],
    ["seconds beside a date", ["1", "Sun, 06 Nov 1994 08:49:37 GMT"], 30_000],
  ])("of %s the longest wait counts", (_what, value, ms) => {
    expect(retryAfterMs({ "retry-after": value }, now)).toBe(ms);
  });

  test("a date that has passed asks for no wait", () => {
    expect(retryAfterMs({ "retry-after": "Sun, 06 Nov 1994 08:49:00 GMT" }, now)).toBe(0);
  });

  test.each([
    "",
    " ",
    "-1",
    "+1",
    "1e3",
    ".5",
    "5.",
    "1,5",
    "0x10",
    "Infinity",
    "NaN",
    "soon",
    "1 s",
    "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 06 Nov 1994 25:61:61 GMT",
    "Sun Nov  6 08:49:37 GMT",
    "06 Nov 1994 08:49:37 1994",
  ])("counts %j as absent", (value) => {
    expect(retryAfterMs({ "retry-after": value }, now)).toBeUndefined();
  });

  test("is undefined without the header", () => {
    expect(retryAfterMs({}, now)).toBeUndefined();
  });

  test.each(["99999999999999999999", "9".repeat(400)])("a wait without end stays a number", (value) => {
    expect(retryAfterMs({ "retry-after": value }, now)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
