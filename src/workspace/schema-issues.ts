import type { SchemaIssue, StandardSchema } from "../runtime/standard-schema.ts";

/** A fault of a value, with its path. */
export interface Found {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const unknownKeys = (issue: SchemaIssue): readonly string[] | undefined =>
  "code" in issue && issue.code === "unrecognized_keys" && "keys" in issue && Array.isArray(issue.keys)
    ? issue.keys.map(String)
    : undefined;

const located = (issue: SchemaIssue): readonly Found[] => {
  const { path = [], message } = issue;
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  // zod lists unknown keys apart from the path, so a fault of one key would look like one of the whole object.
  return unknownKeys(issue)?.map((key) => ({ path: [...keys, key], message })) ?? [{ path: keys, message }];
};

const listOf = (result: unknown): readonly SchemaIssue[] => {
  if (typeof result === "object" && result !== null) {
    const issues: unknown = Reflect.get(result, "issues");
    if (issues === undefined) return [];
    // The specification defines its items.
    if (Array.isArray(issues)) return issues as readonly SchemaIssue[];
  }
  throw new TypeError("validate must return { value } or { issues: [...] }");
};

/**
 * Validates a value with a schema.
 *
 * @throws what the schema throws, and TypeError if its result does not follow Standard Schema.
 */
export const schemaIssues = async (schema: StandardSchema, value: unknown): Promise<readonly Found[]> =>
  listOf(await schema["~standard"].validate(value)).flatMap(located);

const withoutValues = (given: object, ...left: readonly unknown[]): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => !left.includes(value)));

/** Checks an object as JSON writes it: keys with the value undefined are left out. */
export const objectIssues = (schema: StandardSchema, given: object): Promise<readonly Found[]> =>
  schemaIssues(schema, withoutValues(given, undefined));

/**
 * Checks the keys that are present and not null (null clears a key). Ignores faults of the whole object and of missing
 * keys.
 */
export const partIssues = async (schema: StandardSchema, given: object): Promise<readonly Found[]> => {
  const part = withoutValues(given, undefined, null);
  const issues = await schemaIssues(schema, part);
  return issues.filter(({ path: [first] }) => first !== undefined && Object.hasOwn(part, first));
};
