import * as z from "zod/mini";
import type { Issue } from "../errors.ts";
import { nearMiss } from "./near-miss.ts";

type Schema = z.core.$ZodType;
type Raw = z.core.$ZodIssue;

/** Writes a path as one would type it: `events[3].name`. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    "",
  );

// zod's sentences live in locales, which are configured globally; a library must not do that.
const sentence = (issue: Raw): string => {
  if (issue.message !== "" && issue.message !== "Invalid input") return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return `must be ${issue.expected}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.join(", ")}`;
    default:
      return "does not fit";
  }
};

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** A field that is missing, where another seems to be meant for it: says which. */
const hint = (issue: Raw, value: unknown): string => {
  const field = issue.path.at(-1);
  const holder = issue.path
    .slice(0, -1)
    .reduce<unknown>((inside, key) => (isObject(inside) ? Reflect.get(inside, key) : undefined), value);
  if (typeof field !== "string" || !isObject(holder) || Reflect.get(holder, field) !== undefined) return "";
  const meant = nearMiss(field, Object.keys(holder));
  return meant === undefined ? "" : `; it is missing, is "${meant}" meant?`;
};

// Compiling pays from about the tenth check on; a script of one call is better off without.
const checksBeforeCompiling = 3;

interface Checker {
  schema: Schema;
  checks: number;
}

const compileLater = async (checker: Checker): Promise<void> => {
  try {
    const { compile } = await import("./compile.ts");
    // Where code generation is forbidden, it hands the plain schema back.
    checker.schema = compile(checker.schema);
  } catch {
    // A bundle that lost the file checks as before, only slower.
  }
};

const checkers = new WeakMap<Schema, Checker>();

const checkerFor = (schema: Schema): Schema => {
  const checker = checkers.get(schema) ?? { schema, checks: 0 };
  if (checker.checks === 0) checkers.set(schema, checker);
  checker.checks += 1;
  if (checker.checks === checksBeforeCompiling) void compileLater(checker);
  return checker.schema;
};

/**
 * Lists what is wrong with a value; empty when it fits. The value itself is never copied or changed, so
 * unknown fields, and the caller's own object, stay as they are.
 */
export const issuesOf = (schema: Schema, value: unknown): readonly Issue[] => {
  const checker = checkerFor(schema);
  if (z.validate(checker, value)) return [];
  const result = z.safeParse(checker, value);
  if (result.success) return [];
  return result.error.issues.map((issue) => ({
    path: pathOf(issue.path),
    message: sentence(issue) + hint(issue, value),
  }));
};

/** Issues as one line: `email: must be a string; customFields.plan: must be …`. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
