import { expect, test } from "vitest";
import { findRoute } from "../../../src/sandbox/router.ts";
import { operations } from "../../../src/service/operations.ts";

const records = Object.values(operations).flatMap((resource) => Object.values(resource));

test.each(records)("$id is routed by its own method and path", ({ method, path }) => {
  const match = findRoute(method, path.replace(":id", "a%20b"));
  expect([match?.operation.method, match?.operation.path]).toEqual([method, path]);
  expect(match?.id).toBe(path.includes(":id") ? "a b" : "");
});
