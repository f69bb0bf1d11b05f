import { type Issue, ValidationError } from "../errors.ts";
import type { StandardSchema } from "../runtime/standard-schema.ts";
import { pathOf, unnamedFields } from "../service/check.ts";
import type { OperationFacts } from "../service/define.ts";
import { type Found, objectIssues, partIssues, schemaIssues } from "./schema-issues.ts";

/** The schemas of a workspace, from the client's options. */
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
  /** Names that are sent without a word: those that your workspace is known to take. */
  readonly allow?: readonly string[] | undefined;
}

type CheckedOperation = Pick<OperationFacts, "id" | "isPartial" | "typedInput"> & {
  readonly input: Parameters<typeof unnamedFields>[0];
};

type Path = readonly PropertyKey[];

const below = (prefix: Path, found: readonly Found[]): readonly Issue[] =>
  found.map(({ path, message }) => ({ path: pathOf([...prefix, ...path]), message }));

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const property = (record: unknown, name: string): unknown =>
  isObject(record) ? Reflect.get(record, name) : undefined;

/** Reports a schema that throws, because nothing may be sent unchecked. */
const orFailure = async (
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
  readonly #given: WorkspaceSchemas;
  readonly #events: ReadonlyMap<unknown, StandardSchema> | undefined;

  constructor(given: WorkspaceSchemas) {
    this.#given = given;
    this.#events = given.events && new Map(Object.entries(given.events));
  }

  /**
   * The faults of an operation's input, which already matches the operation's own schema.
   *
   * @throws ValidationError, with its error as the cause, when a schema fails to validate.
   */
  async inputIssues(operation: CheckedOperation, payload: unknown): Promise<readonly Issue[]> {
    const unknown = this.#unknownIssues(operation, payload);
    return unknown.length > 0 ? unknown : this.#schemaIssues(operation, payload);
  }

  #unknownIssues({ id, input, typedInput }: CheckedOperation, payload: unknown): readonly Issue[] {
    const { unknownFields: { mode = "pass", allow = [] } = {}, log } = this.#given;
    if (mode === "pass" || typedInput === "checked") return [];
    const issues = unnamedFields(input, payload, allow);
    if (mode === "error") return issues;
    const fields = issues.map(({ path }) => path);
    if (fields.length > 0) log.warn("fields that the document does not name", { operation: id, fields });
    return [];
  }

  async #schemaIssues(
    { id: operation, isPartial, typedInput }: CheckedOperation,
    payload: unknown,
  ): Promise<readonly Issue[]> {
    const check = isPartial ? partIssues : objectIssues;
    const customFields = { operation, name: "customFields", path: "customFields" };
    if (typedInput === "contact")
      return orFailure(customFields, () => this.#fieldsIssues(payload, [], check));
    if (typedInput !== "event") return [];
    const name = `events[${JSON.stringify(property(payload, "name"))}]`;
    const fields = property(payload, "contactFields");
    const issues = await Promise.all([
      orFailure({ operation, name, path: "properties" }, () => this.#eventIssues(payload)),
      orFailure(customFields, () => this.#fieldsIssues(fields, ["contactFields"], partIssues)),
    ]);
    return issues.flat();
  }

  /**
   * The faults of a response, without the schema's own messages: some repeat the value, and hooks and logs must not get
   * personal data.
   */
  async answerIssues({ typedOutput }: OperationFacts, body: unknown): Promise<readonly Issue[]> {
    if (typedOutput === "contact") return this.#contactIssues(body, []);
    const contacts = typedOutput === "page" ? property(body, "data") : undefined;
    if (!Array.isArray(contacts)) return [];
    const issues = contacts.map((contact, at) => this.#contactIssues(contact, ["data", at]));
    return (await Promise.all(issues)).flat();
  }

  async #fieldsIssues(contact: unknown, prefix: Path, check: typeof objectIssues): Promise<readonly Issue[]> {
    const { customFields: schema } = this.#given;
    const fields = property(contact, "customFields");
    if (schema === undefined || !isObject(fields)) return [];
    return below([...prefix, "customFields"], await check(schema, fields));
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
    if (isObject(properties)) return below(["properties"], await objectIssues(schema, properties));
    // Either no properties are allowed, or none are required.
    const isFine = (await schemaIssues(schema, undefined)).length === 0;
    return isFine ? [] : below(["properties"], await objectIssues(schema, {}));
  }
}
