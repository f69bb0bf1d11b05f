import type { SchemaIssue, StandardSchema } from "./standard-schema.ts";

/** A fault of a value, with the keys that lead to it. */
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
  // zod lists unknown keys beside the path, where a fault of one key looks like one of the whole object.
  return unknownKeys(issue)?.map((key) => ({ path: [...keys, key], message })) ?? [{ path: keys, message }];
};

const listOf = (result: unknown): readonly SchemaIssue[] => {
  if (typeof result === "object" && result !== null) {
    const issues: unknown = Reflect.get(result, "issues");
    if (issues === undefined) return [];
    // What each of them is, the specification says.
    if (Array.isArray(issues)) return issues as readonly SchemaIssue[];
  }
  throw new TypeError("validate must answer { value } or { issues: [...] }");
};

/**
 * Asks a schema what is wrong with a value.
 *
 * @throws what the schema throws, and TypeError when its answer is none of a Standard Schema.
 */
export const schemaIssues = async (schema: StandardSchema, value: unknown): Promise<readonly Found[]> =>
  listOf(await schema["~standard"].validate(value)).flatMap(located);

const withoutValues = (given: object, ...left: readonly unknown[]): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => !left.includes(value)));

/** Checks an object as JSON writes it: a key that is undefined is not there. */
export const objectIssues = (schema: StandardSchema, given: object): Promise<readonly Found[]> =>
  schemaIssues(schema, withoutValues(given, undefined));

/**
 * Checks the keys that are there and not null, which clears a key. A fault of the object as a whole, or of a key
 * that is not there, says nothing about them.
 */
export const partIssues = async (schema: StandardSchema, given: object): Promise<readonly Found[]> => {
  const part = withoutValues(given, undefined, null);
  const issues = await schemaIssues(schema, part);
  return issues.filter(({ path: [first] }) => first !== undefined && Object.hasOwn(part, first));
};
