import { expect, test } from "vitest";
import { z } from "zod/mini";
import { ContactInput } from "../../../src/index.ts";

test("the schemas leave nothing on globalThis", () => {
  expect(ContactInput.safeParse({ email: "ada@example.com" }).success).toBe(true);
  expect(z.string().safeParse(1).success).toBe(false);
  expect(Reflect.ownKeys(globalThis).filter((key) => /zod/i.test(String(key)))).toEqual([]);
});
