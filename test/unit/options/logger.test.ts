import { expect, test } from "vitest";
import { logTo } from "../../../src/options/logger.ts";

/** A logger with these methods beside the four, which keeps what it is told. */
const loggerWith = (...more: readonly string[]) => {
  const told: unknown[][] = [];
  const keep = (...args: unknown[]): void => void told.push(args);
  const methods = ["debug", "info", "warn", "error", ...more].map((name) => [name, keep]);
  const logger: Record<"debug" | "info" | "warn" | "error", typeof keep> = Object.fromEntries(methods);
  return { logger, told };
};

test.each([
  ["console", []],
  ["winston", ["child", "isLevelEnabled"]],
])("a logger shaped like %s is given the message first", (_name, more) => {
  const { logger, told } = loggerWith(...more);
  logTo(logger, "warn").warn("slow", { operation: "contacts.list" });
  expect(told).toEqual([["touchpoint: slow", { operation: "contacts.list" }]]);
});

test.each([
  ["pino", ["child", "bindings"]],
  ["bunyan", ["child", "addStream"]],
])("a logger shaped like %s is given the fields first", (_name, more) => {
  const { logger, told } = loggerWith(...more);
  logTo(logger, "warn").warn("slow", { operation: "contacts.list" });
  expect(told).toEqual([[{ operation: "contacts.list" }, "touchpoint: slow"]]);
});
