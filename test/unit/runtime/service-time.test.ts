import { expect, test } from "vitest";
import { ServiceTime } from "../../../src/runtime/clock.ts";

const at = (text: string) => Date.parse(text);

const scene = (wall: string) => {
  const moment = { wall: at(wall) };
  const time = new ServiceTime({ wallTime: () => moment.wall });
  const pass = (ms: number): void => {
    moment.wall += ms;
  };
  return { time, pass, moment };
};

test("the service's time is unknown until an answer has told it", () => {
  const { time } = scene("2026-03-01T12:00:00Z");
  expect(time.now()).toBeUndefined();
  time.note({ date: "not a date" });
  expect(time.now()).toBeUndefined();
});

test("of several Dates in one answer, which may be a proxy's, none is believed", () => {
  const { time } = scene("2026-03-01T12:00:00Z");
  time.note({ date: ["Sun, 01 Mar 2026 11:00:00 GMT", "Sun, 01 Mar 2026 12:00:00 GMT"] });
  expect(time.now()).toBeUndefined();
});

test("a service behind this clock is known by its Date, and runs on with this clock", () => {
  const { time, pass } = scene("2026-03-01T12:10:00Z");
  time.note({ date: "Sun, 01 Mar 2026 12:00:00 GMT" });
  pass(5_000);
  expect(time.now()).toBe(at("2026-03-01T12:00:05Z"));
});

test("of several answers the one that tells the latest time counts", () => {
  const { time, pass } = scene("2026-03-01T12:00:00.900Z");
  time.note({ date: "Sun, 01 Mar 2026 12:00:00 GMT" });
  pass(1_200);
  time.note({ date: "Sun, 01 Mar 2026 12:00:02 GMT" });
  expect(time.now()).toBe(at("2026-03-01T12:00:02Z"));
});

test("a service whose clock was set back is believed", () => {
  const { time, pass } = scene("2026-03-01T12:00:00Z");
  time.note({ date: "Sun, 01 Mar 2026 12:00:00 GMT" });
  pass(2_000);
  time.note({ date: "Sun, 01 Mar 2026 11:00:00 GMT" });
  expect(time.now()).toBe(at("2026-03-01T11:00:00Z"));
});
