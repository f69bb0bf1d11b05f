import { expect, test } from "vitest";
import { withinServiceTime } from "../../../src/bulk/ingest.ts";

const event = (occurredAt?: string | Date) => ({
  name: "order.placed",
  contact: { email: "ada@example.com" },
  ...(occurredAt === undefined ? {} : { occurredAt }),
});
const serviceNow = Date.parse("2026-03-01T12:00:00Z");
const wallNow = Date.parse("2026-03-01T12:10:00Z");

test("a time that only a clock running ahead takes for past is moved to the service's present", () => {
  const moved = withinServiceTime(event("2026-03-01T12:05:00Z"), { serviceNow, wallNow });
  expect(moved.occurredAt).toBe("2026-03-01T12:00:00.000Z");
});

test("a time in the service's past stays as it is", () => {
  const past = event(new Date("2026-03-01T11:59:59Z"));
  expect(withinServiceTime(past, { serviceNow, wallNow })).toBe(past);
});

test("a time ahead of both clocks is left for the service to refuse", () => {
  const future = event("2026-03-01T13:00:00Z");
  expect(withinServiceTime(future, { serviceNow, wallNow })).toBe(future);
});

test("nothing is moved before the service's time is known, or where the event names none", () => {
  const ahead = event("2026-03-01T12:05:00Z");
  expect(withinServiceTime(ahead, { serviceNow: undefined, wallNow })).toBe(ahead);
  const timeless = event();
  expect(withinServiceTime(timeless, { serviceNow, wallNow })).toBe(timeless);
});
