import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { whenAborted } from "../../../src/runtime/cancellation.ts";

test("a signal gets one listener for any number of calls, and keeps none", () => {
  const { signal } = new AbortController();
  const offs = Array.from({ length: 50 }, () => whenAborted(signal, () => undefined));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const off of offs) off();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("every listener still on the list is called once, in order", () => {
  const controller = new AbortController();
  const told: string[] = [];
  whenAborted(controller.signal, () => told.push("a"));
  const off = whenAborted(controller.signal, () => told.push("b"));
  whenAborted(controller.signal, () => told.push("c"));
  off();
  off();
  controller.abort();
  expect(told).toEqual(["a", "c"]);
});

test("a listener may remove itself while it is called", () => {
  const controller = new AbortController();
  const told: string[] = [];
  const off = whenAborted(controller.signal, () => {
    off();
    told.push("a");
  });
  whenAborted(controller.signal, () => told.push("b"));
  controller.abort();
  expect(told).toEqual(["a", "b"]);
});
