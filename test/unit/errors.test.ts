import { readFile } from "node:fs/promises";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import * as errors from "../../src/errors.ts";

const source = new URL("../../src/errors.ts", import.meta.url);

const classes = Object.entries(errors).flatMap(([name, value]) =>
  "prototype" in value && value.prototype instanceof Error ? [[name, value.prototype.name]] : [],
);

test("every error class is named as it is exported", () => {
  expect(classes.filter(([exported, name]) => exported !== name)).toEqual([]);
  expect(classes.length).toBeGreaterThan(15);
});

test("a minifier leaves the names of the errors as they are", async () => {
  const { code } = await transform(await readFile(source, "utf8"), { loader: "ts", minify: true });
  const minified = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const names = classes.map(([name]) => [name, minified[`${name}`].prototype.name]);
  expect(names.filter(([exported, name]) => exported !== name)).toEqual([]);
});

test("a printed error begins with its name, and the name is no field of it", () => {
  const error = new errors.TimeoutError("late");
  expect(error.stack).toMatch(/^TimeoutError: late\n/);
  expect(Object.keys(error)).not.toContain("name");
});

test("retryAfterMs is rounded up to whole milliseconds, so that no caller retries too early", () => {
  const answered = { status: 429, headers: new Headers(), body: undefined, retryAfterMs: 90_400.25 };
  for (const Class of [errors.RateLimitError, errors.ServiceUnavailableError])
    expect([
      new Class("later", answered).retryAfterMs,
      new Class("later", { ...answered, retryAfterMs: undefined }).retryAfterMs,
    ]).toEqual([90_401, undefined]);
});

test("the page of error codes has a row for every error class, with its code", async () => {
  const page = await readFile(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const text = await readFile(source, "utf8");
  const codes = [...text.matchAll(/^export class (\w+) .*?^ {2}(?:override )?readonly code.*? = "(\w+)"/gms)];
  const missing = codes.filter(
    ([, name, code]) => !new RegExp(`^\\| \`${name}\`.* \\| \`${code}\` *\\|`, "m").test(page),
  );
  expect(missing.map(([, name]) => name)).toEqual([]);
  // All but the abstract root.
  expect(codes.length).toBe(classes.length - 1);
});
