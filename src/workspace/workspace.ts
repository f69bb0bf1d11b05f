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

const located = (issue: SchemaIssue): readonly SchemaFault[] => {
  const { path = [], message } = issue;
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  // zod lists unknown keys apart from the path, so the fault of one key would look like a fault of the entire object.
  const unknownKeys = "keys" in issue && Array.isArray(issue.keys) ? issue.keys.map(String) : undefined;
  return unknownKeys?.map((key) => ({ path: [...keys, key], message })) ?? [{ path: keys, message }];
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

const withoutValues = (fields: object, excluded: readonly unknown[]): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !excluded.includes(value)));

/**
 * Checks an object as JSON writes it: keys with the value undefined are left out. Of a part of an object, checks only the
 * keys that are present and not null (null clears a key), and ignores faults of the whole object.
 */
const objectIssues = async (
  schema: StandardSchema,
  value: object,
  isPartial = false,
): Promise<readonly SchemaFault[]> => {
  const present = withoutValues(value, isPartial ? [undefined, null] : [undefined]);
  const isPresent = ([first]: Path): boolean => first !== undefined && Object.hasOwn(present, first);
  const faults = await schemaIssues(schema, present);
  if (isPartial) return faults.filter(({ path }) => isPresent(path));
  // Schema libraries word the fault of a missing key differently, and zod's message does not say that it is missing.
  return faults.map(({ path, message }) =>
    path.length !== 1 || isPresent(path) ? { path, message } : { path, message: `is missing (${message})` },
  );
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
    const customFields = { operation, name: "customFields", path: "customFields" };
    if (typedInput === "contact")
      return orRefusal(customFields, () => this.#fieldsIssues(payload, [], isPartial));
    if (typedInput !== "event") return [];
    const name = `events[${JSON.stringify(property(payload, "name"))}]`;
    const fields = property(payload, "contactFields");
    const issues = await Promise.all([
      orRefusal({ operation, name, path: "properties" }, () => this.#eventIssues(payload)),
      orRefusal(customFields, () => this.#fieldsIssues(fields, ["contactFields"], true)),
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

  async #fieldsIssues(contact: unknown, prefix: Path, isPartial = false): Promise<readonly Issue[]> {
    const { customFields: schema } = this.#schemas;
    const fields = property(contact, "customFields");
    if (schema === undefined || !isRecord(fields)) return [];
    return withPrefix([...prefix, "customFields"], await objectIssues(schema, fields, isPartial));
  }

  async #contactIssues(contact: unknown, prefix: Path): Promise<readonly Issue[]> {
    try {
      const issues = await this.#fieldsIssues(contact, prefix, true);
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
