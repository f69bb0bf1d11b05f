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

/** A part of a JSON Schema or of an OpenAPI document. */
export type Json = Record<string, unknown>;

const { $ZodType } = z.core;

const oneBody = { oneOf: [{ required: ["html"] }, { required: ["text"] }] };

// JSON Schema for the rules that a schema checks in code, or expresses only as a type.
const extraRules = new Map<AnySchema, Json>([
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

// Each resource has its own file with its schemas.
const service = new URL("../src/service/", import.meta.url);
const resources: object[] = await Promise.all(
  Object.keys(operations).map((name) => import(new URL(`${name}.ts`, service).href)),
);

const named = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(Object.assign({ EmailAddress, Moment }, ...resources))) {
  // OpenAPI describes a query as parameters, so it needs no component.
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
      Object.assign(jsonSchema, extraRules.get(zodSchema));
      // A field that must be undefined: no JSON value is valid.
      if (zodSchema._zod.def.type === "undefined") jsonSchema.not = {};
    },
  }).schemas;

/** Every schema of `src/service` by its name, as JSON Schema 2020-12. The schemas refer to each other. */
export const schemaComponents = (): Record<string, Json> => {
  const inputs = generate("input");
  // No schema transforms its value, so one component describes both input and output.
  if (!isDeepStrictEqual(inputs, generate("output")))
    throw new Error("a schema has different input and output");
  return Object.fromEntries(
    Object.entries(inputs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { $schema: _dialect, $id: _uri, ...schema }]) => [id, schema]),
  );
};

/** The errors of the service, by status. Source: service document, Errors. */
const errors: Readonly<Record<string, string>> = {
  400: "A field is missing or invalid. The message names the field.",
  401: "The key is missing, invalid, revoked or expired.",
  403: "The key lacks the scope, its creator's role disallows the call, or (events, emails) it came from a browser.",
  404: "No record with that id in the workspace.",
  409: "Clash with an existing record: contact email, company domain, list or field name.",
  429: "Too many requests. Wait for the number of seconds in `Retry-After`.",
  500: "Server-side failure. Retry later.",
  502: "The mail account refused or failed to send the email. The message gives the reason.",
  503: "A service that Touchpoint depends on is briefly unavailable. Retry later.",
};

const body = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };

const retryAfter = {
  "Retry-After": {
    description: "Seconds to wait. An earlier request gets another 429.",
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

/** Every error response, by the name that operations refer to. */
export const errorComponents = (): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(errors).map(([status, description]) => [
      errorName(status),
      { description, ...(status === "429" ? { headers: retryAfter } : {}), content: body },
    ]),
  );

/** The error responses of an operation. Only operations that send emails have 502, and email operations never have 409. */
export const errorAnswers = (id: string, sends: boolean): Record<string, Json> =>
  Object.fromEntries(
    Object.keys(errors)
      .filter((status) => (sends || status !== "502") && !(id.startsWith("emails.") && status === "409"))
      .map((status) => [status, { $ref: `#/components/responses/${errorName(status)}` }]),
  );

/** The success status that the service document gives, or `2XX` if it gives none. */
export const successStatus = (operation: string): string => documentedStatuses[operation] ?? "2XX";

const documentedStatuses: Readonly<Record<string, string>> = {
  "events.record": "202",
  "events.recordBatch": "207",
  "emails.send": "200",
  "emails.schedule": "201",
};
