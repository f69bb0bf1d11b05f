import * as z from "zod/mini";
import type { Issue } from "../errors.ts";
import { foldedName, nearestTo } from "../runtime/nearest-name.ts";
import { inputs } from "./common.ts";
import { type JsonFault, jsonFault } from "./json.ts";

/** The fields of an input that the document names. */
interface KnownFields {
  readonly names: ReadonlySet<string>;
  readonly byFolded: ReadonlyMap<string, string>;
  /** The same for nested objects whose fields the document names too. */
  readonly inside: readonly (readonly [field: string, known: KnownFields])[];
}

/** The fields of an input; undefined for a response, and for objects with the workspace's own names. */
const knownFields = (schema: z.core.$ZodType): KnownFields | undefined => {
  // Every schema is one of these; only this type shows its definition.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
      return knownFields(def.innerType);
    case "array":
      return knownFields(def.element);
    case "object": {
      if (!inputs.has(def)) return undefined;
      const names = Object.keys(def.shape);
      return {
        names: new Set(names),
        byFolded: new Map(names.map((name) => [foldedName(name), name])),
        inside: Object.entries(def.shape).flatMap(([field, inner]) => {
          const known = knownFields(inner);
          return known === undefined ? [] : [[field, known]];
        }),
      };
    }
    default:
      return undefined;
  }
};

/** What is wrong with an unknown field of an object. */
type Judge = (known: KnownFields, name: string, holder: object) => readonly JsonFault[];

const isMissing = (holder: object, name: string): boolean => Reflect.get(holder, name) === undefined;

/** Judges the unknown fields of an input that have a value, also of its nested objects. */
const straysIn = (
  known: KnownFields,
  value: unknown,
  judge: Judge,
  around: readonly PropertyKey[] = [],
): readonly Issue[] => {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => straysIn(known, item, judge, [...around, index]));
  const issues: Issue[] = [];
  for (const name of Object.keys(value)) {
    if (known.names.has(name) || isMissing(value, name)) continue;
    for (const { path, message } of judge(known, name, value))
      issues.push({ path: pathOf([...around, ...path]), message });
  }
  for (const [field, inner] of known.inside)
    issues.push(...straysIn(inner, Reflect.get(value, field), judge, [...around, field]));
  return issues;
};

/** Finds misspelt fields, and those that cannot be written as JSON. */
const misspelt: Judge = (known, name, holder) => {
  // No schema checks it, but a function or endless nesting would end a whole batch.
  const fault = jsonFault(Reflect.get(holder, name), name);
  const unwritable = fault === undefined ? [] : [{ ...fault, path: [name, ...fault.path] }];
  const meant = known.byFolded.get(foldedName(name));
  if (meant === undefined || !isMissing(holder, meant)) return unwritable;
  return [...unwritable, { path: [name], message: `there is no such field; is "${meant}" meant?` }];
};

/** The fields of an input that the document does not name, but for those that are allowed. */
export const unnamedFields = (
  schema: z.core.$ZodType,
  value: unknown,
  allowed: readonly string[],
): readonly Issue[] => {
  const fields = knownFields(schema);
  if (fields === undefined) return [];
  return straysIn(fields, value, (known, name) => {
    if (allowed.includes(name)) return [];
    const meant = nearestTo(name, [...known.names]);
    const message = `the document names no such field${meant === undefined ? "" : `; is "${meant}" meant?`}`;
    return [{ path: [name], message }];
  });
};

type Schema = z.core.$ZodType;
type Raw = z.core.$ZodIssue;

/** Writes a path as you would type it: `events[3].name`. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    "",
  );

// zod keeps its sentences in locales, which are configured globally; a library must not do that.
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

// Compiling pays off after about ten checks; a script with one call is faster without.
const checksBeforeCompiling = 3;

interface Checker {
  schema: Schema;
  /** For an input; undefined for any other value. */
  readonly known: KnownFields | undefined;
  checks: number;
}

const compileLater = async (checker: Checker): Promise<void> => {
  try {
    const { compile } = await import("./compile.ts");
    // If code generation is forbidden, `compile` returns the plain schema.
    checker.schema = compile(checker.schema);
  } catch {
    // Without that file a bundle still checks, only slower.
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
 * Lists what is wrong with a value; empty if it is valid. The value is neither copied nor changed, so unknown fields
 * and the caller's own object stay as they are.
 */
export const issuesOf = (schema: Schema, value: unknown): readonly Issue[] => {
  const checker = checkerFor(schema);
  const found = faults(checker.schema, value);
  return checker.known === undefined ? found : [...found, ...straysIn(checker.known, value, misspelt)];
};

/** Issues as one line: `email: must be a string; customFields.plan: must be …`. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
