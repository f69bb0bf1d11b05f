import { afterEach, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { issuesOf } from "../../../src/service/check.ts";
import { compile } from "../../../src/service/compile.ts";

vi.mock("../../../src/service/compile.ts", async (original) => {
  const real: { readonly compile: typeof compile } = await original();
  return { compile: vi.fn(real.compile) };
});

afterEach(() => vi.clearAllMocks());

const person = () => z.looseObject({ email: z.string("must be a string") });
const noAddress = [{ path: "email", message: "must be a string" }];

test("a schema is compiled once, with its third check", async () => {
  const schema = person();
  const calls: number[] = [];
  for (let check = 1; check <= 4; check += 1) {
    expect(issuesOf(schema, { email: 1 })).toEqual(noAddress);
    await vi.dynamicImportSettled();
    calls.push(vi.mocked(compile).mock.calls.length);
  }
  expect(calls).toEqual([0, 0, 1, 1]);
});

test("a compiler that cannot be had leaves the checks as they are", async () => {
  vi.mocked(compile).mockImplementationOnce(() => {
    throw new Error("no such file");
  });
  const schema = person();
  for (let check = 1; check <= 4; check += 1) {
    expect(issuesOf(schema, { email: 1 })).toEqual(noAddress);
    await vi.dynamicImportSettled();
  }
  expect(issuesOf(schema, { email: "ada@example.com" })).toEqual([]);
});
