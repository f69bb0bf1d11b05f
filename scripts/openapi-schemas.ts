import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";
import { AnyObject, type AnySchema, EmailAddress, Text, Texts, zodOf } from "../src/service/common.ts";
import * as company from "../src/service/companies.ts";
import * as contact from "../src/service/contacts.ts";
import * as email from "../src/service/emails.ts";
import * as event from "../src/service/events.ts";
import { JsonRecord } from "../src/service/json.ts";
import { operations } from "../src/service/operations.ts";
import { Moment } from "../src/service/timestamps.ts";

/** A piece of JSON Schema. */
export type Json = Record<string, unknown>;

const { $ZodType } = z.core;

const oneBody = { oneOf: [{ required: ["html"] }, { required: ["text"] }] };

// What a schema checks by code, or types only, JSON Schema is told here.
const beyondShapes = new Map<AnySchema, Json>([
  [EmailAddress, { pattern: '^(?:"[^"]*"|[^\\s@"<>,;])+@[^\\s@"<>,;]+$' }],
  [Text, { pattern: "\\S" }],
  [AnyObject, { type: "object" }],
  [Texts, { type: "array", items: { type: "string" } }],
  [Moment, { type: "string", format: "date-time", description: "ISO 8601 with a time zone." }],
  [company.CompanyInput, { minProperties: 1 }],
  [JsonRecord, { type: "object" }],
  [contact.CustomFields, { type: "object" }],
  [contact.ContactStage, { examples: ["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"] }],
  [contact.ContactSource, { examples: ["MANUAL"] }],
  [email.ScheduledStatus, { examples: ["SCHEDULED"] }],
  [event.EventOutcome, { examples: ["PROCESSED", "NO_CONTACT", "TOO_OLD"] }],
  [email.EmailInput, oneBody],
  [email.ScheduledEmailInput, oneBody],
  [event.EventInput, { allOf: [{ properties: { name: { pattern: "^(?!service\\.)[\\s\\S]*\\S" } } }] }],
  [
    event.EventProperties,
    { type: "object", propertyNames: { not: { enum: [...event.refusedPropertyNames] } } },
  ],
  [
    event.EventContact,
    { anyOf: [{ required: ["email"] }, { required: ["externalId"] }, { required: ["id"] }] },
  ],
]);

// Every resource has a file of its own, with its schemas.
const service = new URL("../src/service/", import.meta.url);
const resources: object[] = await Promise.all(
  Object.keys(operations).map((name) => import(new URL(`${name}.ts`, service).href)),
);

const named = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(Object.assign({ EmailAddress, Moment }, ...resources))) {
  // A query is told as parameters, not as a body.
  if (schema instanceof $ZodType && !id.endsWith("Query")) named.add(schema, { id });
}

/** The name of a schema among the components, if it has one. */
export const nameOf = (schema: AnySchema): string | undefined => named.get(zodOf(schema))?.id;

const generate = (io: "input" | "output") =>
  z.toJSONSchema(named, {
    io,
    unrepresentable: "any",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      Object.assign(jsonSchema, beyondShapes.get(zodSchema));
      // An undefined that may not be given at all: nothing fits it.
      if (zodSchema._zod.def.type === "undefined") jsonSchema.not = {};
    },
  }).schemas;

/** Every schema of `src/service` by its name, as JSON Schema 2020-12 whose references are to one another. */
export const schemaComponents = (): Record<string, Json> => {
  const inputs = generate("input");
  // Nothing is transformed on its way, so that one component serves both directions.
  if (!isDeepStrictEqual(inputs, generate("output"))) throw new Error("a schema differs by direction");
  return Object.fromEntries(
    Object.entries(inputs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { $schema: _dialect, $id: _uri, ...schema }]) => [id, schema]),
  );
};

/** The errors of the service, by status. Source: service document, Errors. */
const errors: Readonly<Record<string, string>> = {
  400: "A field is missing or invalid; the message says which.",
  401: "The key is missing, invalid, revoked or expired.",
  403: "The key lacks the scope, its creator's role disallows the call, or (events, emails) it came from a browser.",
  404: "No record with that id in the workspace.",
  409: "Clash with an existing record: contact email, company domain, list or field name.",
  429: "Too many requests; wait for the seconds of `Retry-After`.",
  500: "Server-side failure; retry later.",
  502: "The mail account refused or failed to send the email; the message says why.",
  503: "A service depended upon is briefly unavailable; retry later.",
};

const body = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };

const retryAfter = {
  "Retry-After": {
    description: "Seconds to wait; retrying earlier yields more 429 answers.",
    schema: { type: "integer", minimum: 0 },
  },
};

const errorName = (status: string): string => `Error${status}`;

/** The body of every failed call. */
export const errorSchema: Json = {
  type: "object",
  properties: { error: { type: "string", description: "A message that can be shown to a person." } },
  required: ["error"],
  additionalProperties: {},
};

/** Every failed answer, by the name that operations refer to. */
export const errorComponents = (): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(errors).map(([status, description]) => [
      errorName(status),
      { description, ...(status === "429" ? { headers: retryAfter } : {}), content: body },
    ]),
  );

/** The failed answers of an operation: 502 is for the ones that send, and nothing of an email can clash. */
export const errorAnswers = (id: string, sends: boolean): Record<string, Json> =>
  Object.fromEntries(
    Object.keys(errors)
      .filter((status) => (sends || status !== "502") && !(id.startsWith("emails.") && status === "409"))
      .map((status) => [status, { $ref: `#/components/responses/${errorName(status)}` }]),
  );

/** The success statuses the document gives; of the others it says nothing, so `2XX`. */
export const successStatus = (operation: string): string => given[operation] ?? "2XX";

const given: Readonly<Record<string, string>> = {
  "events.record": "202",
  "events.recordBatch": "207",
  "emails.send": "200",
  "emails.schedule": "201",
};
