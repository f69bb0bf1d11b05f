import { test } from "vitest";
import { type RulesFor, rules } from "../../src/sandbox/router.ts";
import type { operations } from "../../src/service/operations.ts";

type Records = typeof operations;

test("a record without a sandbox rule does not compile", () => {
  rules satisfies RulesFor<Records>;
  // @ts-expect-error a new resource
  rules satisfies RulesFor<Records & { invoices: { list: unknown } }>;
  // @ts-expect-error a new operation of a known one
  rules satisfies RulesFor<Omit<Records, "lists"> & { lists: Records["lists"] & { get: unknown } }>;
});
