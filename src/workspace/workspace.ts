import { type Issue, ValidationError } from "../errors.ts";
import { pathOf } from "../service/check.ts";
import { reservedEventPrefix } from "../service/events.ts";
import { type Found, objectIssues, partIssues, schemaIssues } from "./schema-issues.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";

/** The schemas of a workspace, from the client's options. */
export interface WorkspaceSchemas {
  readonly customFields?: StandardSchema | undefined;
  readonly events?: Readonly<Record<string, StandardSchema>> | undefined;
}

const below = (prefix: readonly PropertyKey[], found: readonly Found[]): readonly Issue[] =>
  found.map(({ path, message }) => ({ path: pathOf([...prefix, ...path]), message }));

const property = (record: unknown, name: string): unknown =>
  typeof record === "object" && record !== null ? Reflect.get(record, name) : undefined;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

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
  readonly #customFields: StandardSchema | undefined;
  readonly #events: ReadonlyMap<unknown, StandardSchema> | undefined;

  constructor({ customFields, events }: WorkspaceSchemas) {
    this.#customFields = customFields;
    this.#events = events && new Map(Object.entries(events));
  }

  /**
   * The faults of an operation's input, which already matches the operation's own schema.
   *
   * @throws ValidationError, with its error as the cause, when a schema fails to validate.
   */
  async inputIssues(operation: string, payload: unknown): Promise<readonly Issue[]> {
    const customFields = { operation, name: "customFields", path: "customFields" };
    switch (operation) {
      case "contacts.create":
        return orFailure(customFields, () => this.#fieldsIssues(payload, objectIssues));
      case "contacts.update":
        return orFailure(customFields, () => this.#fieldsIssues(payload, partIssues));
      case "events.record": {
        const name = `events[${JSON.stringify(property(payload, "name"))}]`;
        return orFailure({ operation, name, path: "properties" }, () => this.#eventIssues(payload));
      }
      default:
        return [];
    }
  }

  /**
   * The faults of a response, without the schema's own messages: some repeat the value, and hooks and logs must not get
   * personal data.
   */
  async answerIssues(operation: string, body: unknown): Promise<readonly Issue[]> {
    switch (operation) {
      case "contacts.create":
      case "contacts.update":
        return this.#contactIssues(body, []);
      case "contacts.list": {
        const contacts = property(body, "data");
        if (!Array.isArray(contacts)) return [];
        const issues = contacts.map((contact, at) => this.#contactIssues(contact, ["data", at]));
        return (await Promise.all(issues)).flat();
      }
      default:
        return [];
    }
  }

  async #fieldsIssues(contact: unknown, check: typeof objectIssues): Promise<readonly Issue[]> {
    const fields = property(contact, "customFields");
    if (this.#customFields === undefined || !isObject(fields)) return [];
    return below(["customFields"], await check(this.#customFields, fields));
  }

  async #contactIssues(contact: unknown, prefix: readonly PropertyKey[]): Promise<readonly Issue[]> {
    const path = pathOf([...prefix, "customFields"]);
    try {
      const issues = await this.#fieldsIssues(contact, partIssues);
      return issues.map((issue) => ({
        path: path.slice(0, -"customFields".length) + issue.path,
        message: "does not match the customFields schema",
      }));
    } catch {
      // The service has already done the work: a schema that throws must not hide the response.
      return [{ path, message: "cannot be checked: the customFields schema failed" }];
    }
  }

  async #eventIssues(event: unknown): Promise<readonly Issue[]> {
    if (this.#events === undefined) return [];
    const schema = this.#events.get(property(event, "name"));
    if (schema === undefined) {
      return [{ path: "name", message: `must be one of ${[...this.#events.keys()].join(", ")}` }];
    }
    const properties = property(event, "properties");
    if (isObject(properties)) return below(["properties"], await objectIssues(schema, properties));
    // Either no properties are allowed, or none are required.
    const isFine = (await schemaIssues(schema, undefined)).length === 0;
    return isFine ? [] : below(["properties"], await objectIssues(schema, {}));
  }
}

/** The faults of the given schemas. */
export const workspaceFaults = ({ customFields, events }: WorkspaceSchemas): string[] => {
  const faults: string[] = [];
  const wanted = "must be a Standard Schema, as zod, valibot and arktype make them";
  if (customFields !== undefined && !isStandardSchema(customFields)) faults.push(`customFields ${wanted}`);
  if (events === undefined) return faults;
  if (!isObject(events) || Object.keys(events).length === 0) {
    return [...faults, "events must be an object with a schema for each event name"];
  }
  for (const [name, schema] of Object.entries(events)) {
    if (name.startsWith(reservedEventPrefix)) {
      faults.push(`events: "${name}" is reserved for events the service records itself`);
    } else if (!isStandardSchema(schema)) faults.push(`events["${name}"] ${wanted}`);
  }
  return faults;
};
