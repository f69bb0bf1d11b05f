import * as z from "zod/mini";
import type { Issue } from "../errors.ts";
import { foldedName, suggestion } from "../runtime/nearest-name.ts";
import { type Copying, copyWritten, isRecord } from "../runtime/values.ts";
import { type AnySchema, type Definition, defOf, inputShapes, zodOf } from "./common.ts";
import { type JsonFault, jsonFault, recordFault } from "./json.ts";
import { writtenMoment } from "./timestamps.ts";

/** The fields that contain times. `writtenMoment` writes them, and not the `toJSON` of an object. */
const momentFields = ["sendAt", "occurredAt"];

/** Returns the faults of a field of `holder` that is not in the schema. `names` are the fields of the schema. */
type FieldCheck = (holder: object, field: string, names: readonly string[]) => readonly JsonFault[];

/** Checks the fields that have a value but are not in the schema, also in nested objects. */
const straysIn = (
  def: Definition,
  value: unknown,
  check: FieldCheck,
  prefix: readonly PropertyKey[] = [],
): readonly Issue[] => {
  if (typeof value !== "object" || value === null) return [];
  if (def.type === "array" && Array.isArray(value))
    return value.flatMap((item, index) => straysIn(defOf(def.element), item, check, [...prefix, index]));
  // Only inputs have an entry here: not responses, and not objects with the workspace's own field names.
  const shape = inputShapes.get(def);
  if (shape === undefined) return [];
  if (value.constructor !== Object && !Array.isArray(value)) {
    const fault = recordFault(value, `must be an object with fields, not a ${value.constructor?.name}`);
    // The loop below finds the faults of single fields.
    if (fault?.path.length === 0) return [{ path: pathOf(prefix), message: fault.message }];
  }
  const issues: Issue[] = [];
  for (const name of Object.keys(value)) {
    const item: unknown = Reflect.get(value, name);
    if (item === undefined) continue;
    const inner = shape.get(name);
    if (inner === undefined)
      for (const { path, message } of check(value, name, [...shape.keys()]))
        issues.push({ path: pathOf([...prefix, name, ...path]), message });
    else if (typeof item === "object") issues.push(...straysIn(inner, item, check, [...prefix, name]));
  }
  return issues;
};

/** Returns a fault if a field is misspelled, and one if it cannot be written as JSON. */
const misspelledOrUnwritable: FieldCheck = (holder, field, names) => {
  // No schema checks this field, but a function or endless nesting in it would make a complete batch fail.
  const fault = jsonFault(Reflect.get(holder, field), field);
  const match = names.find((name) => foldedName(name) === foldedName(field));
  const unwritable = fault === undefined ? [] : [fault];
  if (match === undefined || Reflect.get(holder, match) !== undefined) return unwritable;
  return [...unwritable, { path: [], message: `there is no such field (did you mean "${match}"?)` }];
};

/** Finds the fields of an input that the document does not name, except allowed ones. */
export const unnamedFields = (
  schema: AnySchema,
  value: unknown,
  allowed: readonly string[],
): readonly Issue[] =>
  straysIn(defOf(schema), value, (_holder, field, names) => {
    if (allowed.includes(field)) return [];
    return [{ path: [], message: `the service's document has no such field${suggestion(field, names)}` }];
  });

/** Writes a path as you would type it: `events[3].name`. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    "",
  );

// zod takes its messages from a global locale, which a library must not configure. The checks of the schemas have their
// own messages, but most types have none.
const sentence = (issue: z.core.$ZodIssue): string => {
  if (issue.message !== "" && issue.message !== "Invalid input") return issue.message;
  return issue.code === "invalid_type" ? `must be ${issue.expected}` : "is invalid";
};

// Compiling pays off after about ten checks. A schema that has been checked three times will probably reach ten, but a
// script with a single call is faster without compiling.
const checksBeforeCompiling = 3;

interface Checker {
  schema: z.core.$ZodType;
  readonly def: Definition;
  checks: number;
}

const compileLater = async (checker: Checker): Promise<void> => {
  try {
    const { compile } = await import("./compile.ts");
    // If code generation is forbidden, `compile` returns the plain schema.
    checker.schema = compile(checker.schema);
  } catch {
    // A bundle without that file still checks values, but more slowly.
  }
};

const checkers = new WeakMap<AnySchema, Checker>();

// If the service renames a field, every record of a page has the same fault.
const mostResponseFaults = 20;

/** Describes the faults of an invalid value: all faults of an input, and the first ones of a response. */
const faultsOf = ({ schema, def }: Checker, value: unknown): readonly Issue[] => {
  const issues = z.safeParse(schema, value).error?.issues ?? [];
  const reported = inputShapes.has(def) ? issues : issues.slice(0, mostResponseFaults);
  return reported.map((issue) => ({ path: pathOf(issue.path), message: sentence(issue) }));
};

/** The faults for fields that a copy of an input lacks, keyed by the copy. A copy of the copy has the same faults. */
const lostFields = new WeakMap<object, readonly Issue[]>();

/**
 * Lists what is wrong with a value; empty if it is valid. The value is neither copied nor changed, so unknown fields
 * and the caller's own object stay as they are.
 */
export const issuesOf = (schema: AnySchema, value: unknown): readonly Issue[] => {
  const lost = typeof value === "object" && value !== null ? lostFields.get(value) : undefined;
  if (lost !== undefined) return lost;
  const checker = checkers.get(schema) ?? { schema: zodOf(schema), def: defOf(schema), checks: 0 };
  if (checker.checks === 0) checkers.set(schema, checker);
  checker.checks += 1;
  if (checker.checks === checksBeforeCompiling) void compileLater(checker);
  const strays = straysIn(checker.def, value, misspelledOrUnwritable);
  return z.validate(checker.schema, value) ? strays : [...faultsOf(checker, value), ...strays];
};

const unsent = "is an accessor or inherited, so it would not be sent; pass a plain object";

/** Finds the known fields that can be read from an input but are missing in its copy, which is sent. */
const unsentIn = (
  def: Definition,
  { input, copy }: { readonly input: unknown; readonly copy: unknown },
  prefix: readonly PropertyKey[] = [],
): readonly Issue[] => {
  if (typeof input !== "object" || input === null || typeof copy !== "object" || copy === null) return [];
  if (def.type === "array" && Array.isArray(input))
    return input.flatMap((item, index) =>
      unsentIn(defOf(def.element), { input: item, copy: Reflect.get(copy, index) }, [...prefix, index]),
    );
  const shape = inputShapes.get(def);
  if (shape === undefined || !isRecord(copy)) return [];
  const issues: Issue[] = [];
  for (const [name, inner] of shape) {
    // An object that cannot be copied is the same object in the input and in the copy.
    const sent = Object.hasOwn(copy, name) ? copy[name] : undefined;
    if (sent !== undefined && (typeof sent !== "object" || sent === null)) continue;
    const value: unknown = Reflect.get(input, name);
    if (sent !== undefined) issues.push(...unsentIn(inner, { input: value, copy: sent }, [...prefix, name]));
    // A method of a class is not a field.
    else if (value !== undefined && typeof value !== "function")
      issues.push({ path: pathOf([...prefix, name]), message: unsent });
  }
  return issues;
};

/**
 * Copies an input in the form that JSON gives it. The copy is checked and sent, so that later changes to the input have
 * no effect. `issuesOf` reports fields that the input has and the copy lacks.
 */
export const readFields = <Input>(schema: AnySchema, input: Input): Input => {
  const copying: Copying = { around: new Map(), moments: momentFields, isPartial: false };
  // A copy has every field that JSON writes. For the other fields, store faults, which `issuesOf` returns.
  const copy = copyWritten(input, "", copying) as Input;
  if (typeof copy !== "object" || copy === null || typeof input !== "object" || input === null) return copy;
  for (const field of momentFields) {
    // An object that cannot be copied is the caller's own.
    if (copy === input || !(field in copy) || !inputShapes.get(defOf(schema))?.has(field)) continue;
    const written = writtenMoment(Reflect.get(copy, field));
    // An invalid time stays as it is, so that the check can name it.
    if (written !== undefined) Reflect.set(copy, field, written);
  }
  const lost = copying.isPartial ? unsentIn(defOf(schema), { input, copy }) : lostFields.get(input);
  if (lost !== undefined && lost.length > 0) lostFields.set(copy, lost);
  return copy;
};

/** Formats issues as one line: `email: must be a string; customFields.plan: must be …`. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
