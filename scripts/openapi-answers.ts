import type { Json } from "./openapi-schemas.ts";

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

const nameOf = (status: string): string => `Error${status}`;

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
      nameOf(status),
      { description, ...(status === "429" ? { headers: retryAfter } : {}), content: body },
    ]),
  );

/** The failed answers of an operation: 502 is for the ones that send. */
export const errorAnswers = (sends: boolean): Record<string, Json> =>
  Object.fromEntries(
    Object.keys(errors)
      .filter((status) => sends || status !== "502")
      .map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
  );

/** The success statuses the document gives; of the others it says nothing, so `2XX`. */
export const successStatus = (operation: string): string => given[operation] ?? "2XX";

const given: Readonly<Record<string, string>> = {
  "events.record": "202",
  "events.recordBatch": "207",
  "emails.send": "200",
  "emails.schedule": "201",
};
