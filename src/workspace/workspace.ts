import { type Issue, ValidationError } from "../errors.ts";
import type { SchemaIssue, StandardSchema } from "../runtime/standard-schema.ts";
import { isRecord } from "../runtime/values.ts";
import { pathOf, unnamedFields } from "../service/check.ts";
import type { SchemaFault } from "../service/common.ts";
import type { OperationFacts } from "../service/define.ts";

/** The schemas and the rules for unknown fields, from the client's options. */
export interface WorkspaceSchemas {
  readonly customFields?: StandardSchema | undefined;
  readonly events?: Readonly<Record<string, StandardSchema>> | undefined;
  readonly unknownFields?: UnknownFields | undefined;
  /** Reports unknown fields. */
  readonly log: { warn(message: string, fields: object): void };
}

/** What happens to fields of an input that the service's document does not name. */
export interface UnknownFields {
  /** `error` refuses the input, `warn` logs the fields and sends them, `pass` sends them. Default `pass`. */
  readonly mode?: "error" | "warn" | "pass" | undefined;
  /** Names that are always sent without a warning, because your workspace accepts them. */
  readonly allow?: readonly string[] | undefined;
}

type CheckedOperation = Pick<OperationFacts, "id" | "isPartial" | "typedInput"> & {
  readonly input: Parameters<typeof unnamedFields>[0];
};

type Path = readonly PropertyKey[];

const withPrefix = (prefix: Path, issues: readonly SchemaFault[]): readonly Issue[] =>
  issues.map(({ path, message }) => ({ path: pathOf([...prefix, ...path]), message }));

const property = (record: unknown, name: string): unknown => Reflect.get(Object(record), name);

const unknownKeys = (issue: SchemaIssue): readonly string[] | undefined =>
  "code" in issue && issue.code === "unrecognized_keys" && "keys" in issue && Array.isArray(issue.keys)
    ? issue.keys.map(String)
    : undefined;

const located = (issue: SchemaIssue): readonly SchemaFault[] => {
  const { path = [], message } = issue;
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  // zod lists unknown keys apart from the path, so the fault of one key would look like a fault of the entire object.
  return unknownKeys(issue)?.map((key) => ({ path: [...keys, key], message })) ?? [{ path: keys, message }];
};

const issuesOf = (result: unknown): readonly SchemaIssue[] => {
  if (typeof result === "object" && result !== null) {
    const issues: unknown = Reflect.get(result, "issues");
    if (issues === undefined) return [];
    // The specification defines the items.
    if (Array.isArray(issues)) return issues as readonly SchemaIssue[];
  }
  throw new TypeError("validate must return { value } or { issues: [...] }");
};

/** @throws what the schema throws, and TypeError if its result does not follow Standard Schema. */
const schemaIssues = async (schema: StandardSchema, value: unknown): Promise<readonly SchemaFault[]> =>
  issuesOf(await schema["~standard"].validate(value)).flatMap(located);

const withoutValues = (fields: object, ...excluded: readonly unknown[]): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !excluded.includes(value)));

/** Checks an object as JSON writes it: keys with the value undefined are left out. */
const objectIssues = async (schema: StandardSchema, value: object): Promise<readonly SchemaFault[]> => {
  const bare = withoutValues(value, undefined);
  const issues = await schemaIssues(schema, bare);
  // Schema libraries word this fault differently, and zod's message does not say that the key is missing.
  const isMissing = ({ path: [first, ...rest] }: SchemaFault): boolean =>
    first !== undefined && rest.length === 0 && !Object.hasOwn(bare, first);
  return issues.map((issue) =>
    isMissing(issue) ? { ...issue, message: `is missing (${issue.message})` } : issue,
  );
};

/**
 * Checks the keys that are present and not null (null clears a key). Ignores faults of the whole object and of missing
 * keys.
 */
const partIssues = async (schema: StandardSchema, value: object): Promise<readonly SchemaFault[]> => {
  const part = withoutValues(value, undefined, null);
  const issues = await schemaIssues(schema, part);
  return issues.filter(({ path: [first] }) => first !== undefined && Object.hasOwn(part, first));
};

/** Runs a check. If the schema itself throws, throws a ValidationError, because nothing may be sent unchecked. */
const orRefusal = async (
  { operation, name, path }: { readonly operation: string; readonly name: string; readonly path: string },
  check: () => Promise<readonly Issue[]>,
): Promise<readonly Issue[]> => {
  try {
    return await check();
  } catch (cause) {
    const message = `cannot be checked: the schema ${name} failed (${String(cause)})`;
    const issues = [{ path, message }];
    throw new ValidationError(`${operation}: ${path}: ${message}`, { operation, issues, cause });
  }
};

/** Checks input and responses against the client's schemas. */
export class Workspace {
  readonly #schemas: WorkspaceSchemas;
  readonly #events: ReadonlyMap<unknown, StandardSchema> | undefined;

  constructor(schemas: WorkspaceSchemas) {
    this.#schemas = schemas;
    this.#events = schemas.events && new Map(Object.entries(schemas.events));
  }

  /**
   * Finds the faults of an operation's input, which already matches the operation's own schema.
   *
   * @throws ValidationError when a schema itself throws; the `cause` is the schema's error.
   */
  async inputIssues(operation: CheckedOperation, payload: unknown): Promise<readonly Issue[]> {
    const unknown = this.#unknownIssues(operation, payload);
    return unknown.length > 0 ? unknown : this.#schemaIssues(operation, payload);
  }

  #unknownIssues({ id, input, typedInput }: CheckedOperation, payload: unknown): readonly Issue[] {
    const { unknownFields: { mode = "pass", allow = [] } = {}, log } = this.#schemas;
    if (mode === "pass" || typedInput === "checked") return [];
    const issues = unnamedFields(input, payload, allow);
    if (mode === "error") return issues;
    const fields = issues.map(({ path }) => path);
    if (fields.length > 0) log.warn("the input has undocumented fields", { operation: id, fields });
    return [];
  }

  async #schemaIssues(
    { id: operation, isPartial, typedInput }: CheckedOperation,
    payload: unknown,
  ): Promise<readonly Issue[]> {
    const check = isPartial ? partIssues : objectIssues;
    const customFields = { operation, name: "customFields", path: "customFields" };
    if (typedInput === "contact")
      return orRefusal(customFields, () => this.#fieldsIssues(payload, [], check));
    if (typedInput !== "event") return [];
    const name = `events[${JSON.stringify(property(payload, "name"))}]`;
    const fields = property(payload, "contactFields");
    const issues = await Promise.all([
      orRefusal({ operation, name, path: "properties" }, () => this.#eventIssues(payload)),
      orRefusal(customFields, () => this.#fieldsIssues(fields, ["contactFields"], partIssues)),
    ]);
    return issues.flat();
  }

  /**
   * Finds the faults of a response. They do not contain the schema's own messages, because these may repeat a value,
   * and hooks and logs must not get personal data.
   */
  async answerIssues({ typedOutput }: OperationFacts, body: unknown): Promise<readonly Issue[]> {
    if (typedOutput === "contact") return this.#contactIssues(body, []);
    const contacts = typedOutput === "page" ? property(body, "data") : undefined;
    if (!Array.isArray(contacts)) return [];
    const issues = contacts.map((contact, index) => this.#contactIssues(contact, ["data", index]));
    return (await Promise.all(issues)).flat();
  }

  async #fieldsIssues(contact: unknown, prefix: Path, check: typeof objectIssues): Promise<readonly Issue[]> {
    const { customFields: schema } = this.#schemas;
    const fields = property(contact, "customFields");
    if (schema === undefined || !isRecord(fields)) return [];
    return withPrefix([...prefix, "customFields"], await check(schema, fields));
  }

  async #contactIssues(contact: unknown, prefix: Path): Promise<readonly Issue[]> {
    try {
      const issues = await this.#fieldsIssues(contact, prefix, partIssues);
      return issues.map(({ path }) => ({ path, message: "does not match the customFields schema" }));
    } catch {
      // The service has already done the work: a schema that throws must not hide the response.
      const path = pathOf([...prefix, "customFields"]);
      return [{ path, message: "cannot be checked: the customFields schema failed" }];
    }
  }

  async #eventIssues(event: unknown): Promise<readonly Issue[]> {
    if (this.#events === undefined) return [];
    const schema = this.#events.get(property(event, "name"));
    if (schema === undefined)
      return [{ path: "name", message: `must be one of ${[...this.#events.keys()].join(", ")}` }];
    const properties = property(event, "properties");
    if (isRecord(properties)) return withPrefix(["properties"], await objectIssues(schema, properties));
    // An event without properties is valid if the schema accepts undefined or an empty object.
    const acceptsUndefined = (await schemaIssues(schema, undefined)).length === 0;
    return acceptsUndefined ? [] : withPrefix(["properties"], await objectIssues(schema, {}));
  }
}
