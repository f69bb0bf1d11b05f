import { type Fields, has, isArray, isFields } from "../json.ts";
import { invalid, readOptionalFlag, readText, readTime } from "./values.ts";

/** The sandbox's choice: the document mentions a maximum, but not its value. */
const maxPropertiesBytes = 32_768;

/** The three names in the document, in lower case and without punctuation. */
const refusedNames = new Set(["password", "cardnumber", "ssn"]);

/** The parts of an event that can be read without looking at the workspace. */
export interface EventDraft {
  readonly name: string;
  readonly id: string | undefined;
  readonly person: { readonly email?: unknown; readonly externalId?: unknown; readonly id?: unknown };
  readonly properties: Fields;
  readonly contactFields: Fields;
  /** Milliseconds since 1970. */
  readonly occurredAt: number;
  readonly createContact: boolean;
}

const assertHarmless = (value: unknown): void => {
  if (isArray(value)) value.forEach(assertHarmless);
  if (!isFields(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (refusedNames.has(name.toLowerCase().replace(/[^a-z0-9]/g, ""))) {
      throw invalid(`properties.${name}`, "looks like a secret and is refused");
    }
    assertHarmless(inner);
  }
};

const readObject = (fields: Fields, name: string): Fields => {
  const value = has(fields, name) ? fields[name] : {};
  if (!isFields(value)) throw invalid(name, "must be an object");
  return value;
};

const readName = (value: unknown): string => {
  const name = readText(value, "name");
  if (name.startsWith("service.")) throw invalid("name", "starts with the reserved prefix service.");
  return name;
};

const readPerson = (value: unknown): EventDraft["person"] => {
  if (value === undefined) throw invalid("contact", "is missing");
  if (!isFields(value)) throw invalid("contact", "must be an object");
  if (!["email", "externalId", "id"].some((field) => has(value, field))) {
    throw invalid("contact", "must have an email, an externalId or an id");
  }
  return value;
};

/** Reads an event as sent. @throws Refusal 400 */
export const readEvent = (value: unknown, now: number): EventDraft => {
  if (!isFields(value)) throw invalid("event", "must be a JSON object");
  const name = readName(value.name);
  const person = readPerson(value.contact);
  const properties = readObject(value, "properties");
  if (Buffer.byteLength(JSON.stringify(properties)) > maxPropertiesBytes) {
    throw invalid("properties", `is too big: at most ${maxPropertiesBytes} bytes of JSON`);
  }
  assertHarmless(properties);
  const occurredAt = has(value, "occurredAt") ? readTime(value.occurredAt, "occurredAt") : now;
  if (occurredAt > now) throw invalid("occurredAt", "is in the future");
  return {
    name,
    person,
    properties,
    occurredAt,
    id: has(value, "id") ? readText(value.id, "id") : undefined,
    contactFields: readObject(value, "contactFields"),
    createContact: readOptionalFlag(value, "createContact") ?? true,
  };
};
