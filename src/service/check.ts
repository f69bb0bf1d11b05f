import * as z from "zod/mini";
import type { Issue } from "../errors.ts";
import { type KnownFields, knownFields, strayFields } from "./input.ts";

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

// Compiling pays from about the tenth check on; a script of one call is better off without.
const checksBeforeCompiling = 3;

interface Checker {
  schema: Schema;
  /** Of an input; undefined for any other value. */
  readonly known: KnownFields | undefined;
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

const checkerFor = (schema: Schema): Checker => {
  const checker = checkers.get(schema) ?? { schema, known: knownFields(schema), checks: 0 };
  if (checker.checks === 0) checkers.set(schema, checker);
  checker.checks += 1;
  if (checker.checks === checksBeforeCompiling) void compileLater(checker);
  return checker;
};

const faults = (schema: Schema, value: unknown): readonly Issue[] => {
  if (z.validate(schema, value)) return [];
  const result = z.safeParse(schema, value);
  if (result.success) return [];
  return result.error.issues.map((issue) => ({ path: pathOf(issue.path), message: sentence(issue) }));
};

/**
 * Lists what is wrong with a value; empty when it fits. The value itself is never copied or changed, so
 * unknown fields, and the caller's own object, stay as they are.
 */
export const issuesOf = (schema: Schema, value: unknown): readonly Issue[] => {
  const checker = checkerFor(schema);
  const found = faults(checker.schema, value);
  const strays = checker.known === undefined ? [] : strayFields(checker.known, value);
  if (strays.length === 0) return found;
  return [...found, ...strays.map(({ path, message }) => ({ path: pathOf(path), message }))];
};

/** Issues as one line: `email: must be a string; customFields.plan: must be …`. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
