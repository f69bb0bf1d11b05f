import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import Ajv from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { openApiDocument, openApiFile, openApiText } from "../../scripts/openapi.ts";
import { operations } from "../../src/service/operations.ts";
import { endpoints, samples } from "./samples.ts";

interface Described {
  readonly "x-methods": readonly string[];
  readonly "x-inferred"?: true;
  readonly security: readonly [{ readonly key: readonly string[] }];
  readonly responses: Readonly<Record<string, object>>;
}

// Generated a line above, and JSON; the linter below judges its shape.
const document = openApiDocument() as {
  paths: Record<string, Record<string, Described>>;
  components: { responses: Record<string, { headers?: object }> };
};

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test("docs/openapi.json is up to date: otherwise, run npm run generate", () => {
  expect(readFileSync(openApiFile, "utf8")).toBe(openApiText());
});

test("an independent linter reports nothing", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source: openApiText(), config, absoluteRef: "openapi.json" });
  expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

describe("the operations", () => {
  test("are all there, once", () => {
    const ids = Object.values(operations).flatMap((resource) => Object.values(resource).map(({ id }) => id));
    expect(described.flatMap(({ operation }) => operation["x-methods"]).sort()).toEqual(ids.sort());
  });

  test.each(endpoints)("%s %s is documented, with scopes %j", (method, path, scopes, status) => {
    const operation = document.paths[path.replace(":id", "{id}")]?.[method.toLowerCase()];
    expect([operation?.["x-inferred"], operation?.security]).toEqual([undefined, [{ key: scopes }]]);
    expect(Object.keys(operation?.responses ?? {})).toContain(String(status ?? "2XX"));
  });

  test("that the document does not give are marked", () => {
    const inferred = described.filter(({ operation }) => operation["x-inferred"]);
    expect(inferred.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "post /api/v1/companies",
      "get /api/v1/companies",
      "post /api/v1/lists",
      "get /api/v1/emails/scheduled",
      "patch /api/v1/emails/scheduled/{id}",
      "delete /api/v1/emails/scheduled/{id}",
    ]);
  });

  test("answer every status of the errors table, 502 only where an email is sent, no 409 for emails", () => {
    for (const { path, method, operation } of described) {
      const clashes = path.startsWith("/api/v1/emails") ? [] : ["409"];
      const statuses = ["400", "401", "403", "404", ...clashes, "429", "500", "503"];
      const sends = path === "/api/v1/emails" && method === "post";
      const failed = Object.keys(operation.responses).filter((status) => /^[45]\d\d$/.test(status));
      expect(failed).toEqual(sends ? [...statuses, "502"].sort() : statuses);
    }
    expect(Object.keys(document.components.responses.Error429?.headers ?? {})).toEqual(["Retry-After"]);
  });
});

const validator = new Ajv({ strict: false, validateFormats: false });
validator.addSchema(openApiDocument(), "openapi");
const fits = (name: string, value: unknown): boolean | Promise<unknown> =>
  validator.validate(`openapi#/components/schemas/${name}`, value);

const { html: _html, ...bodiless } = samples.email;
const judged: [boolean, string, unknown][] = [
  [true, "Contact", samples.contact],
  [true, "ContactPage", { ...samples.contactPage, data: [samples.contact] }],
  [true, "ContactInput", { email: "ada@example.com", customFields: { plan: null } }],
  [true, "CompanyInput", samples.company],
  [true, "EventInput", samples.event],
  [true, "EventReceipt", samples.receipt],
  [true, "EventBatch", { events: Array(100).fill(samples.event) }],
  [true, "BatchAnswer", samples.batchAnswer],
  [true, "EmailInput", samples.email],
  [true, "ScheduledEmailInput", { ...samples.email, sendAt: "2026-02-01T09:00:00Z" }],
  [true, "SentEmail", samples.sentEmail],
  [true, "ScheduledEmail", samples.scheduledEmail],
  [true, "Error", samples.error],
  [false, "ContactInput", { email: "ada" }],
  [false, "CompanyInput", { companyName: " " }],
  [false, "ListMembers", { emails: Array(1_001).fill("ada@example.com") }],
  [false, "EventInput", { ...samples.event, name: "service.opened" }],
  [false, "EventInput", { ...samples.event, contact: {} }],
  [false, "EventInput", { ...samples.event, properties: { ssn: "1" } }],
  [false, "EventBatch", { events: [] }],
  [false, "EmailInput", { ...samples.email, text: "Hello" }],
  [false, "EmailInput", bodiless],
  [false, "EmailInput", { ...samples.email, sendAt: "2026-02-01T09:00:00Z" }],
  [false, "ScheduledEmailInput", samples.email],
];

test.each(judged)("an independent validator says %s of %s %j", (isFitting, name, value) => {
  expect(fits(name, value)).toBe(isFitting);
});
