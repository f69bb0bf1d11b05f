import { expect, test } from "vitest";
import { limitsOf } from "../../../src/cli/connect.ts";

test("--limits is how many times the documented limits a key has", async () => {
  expect(await limitsOf({ values: {} })).toBe(undefined);
  expect(await limitsOf({ values: { limits: "off" } })).toBe(false);
  expect(await limitsOf({ values: { limits: "100" } })).toEqual({
    requests: { max: 10_000, windowMs: 10_000 },
    requestsPerDay: 5_000_000,
    emails: { max: 2_000, windowMs: 60_000 },
    emailsPerDay: 30_000,
    events: { max: 5_000, windowMs: 1_000 },
    eventsPerDay: 10_000_000,
  });
  expect(await limitsOf({ values: { limits: "0.01" } })).toMatchObject({
    requests: { max: 1 },
    emails: { max: 1 },
  });
});
