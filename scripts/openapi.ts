import { readFileSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";
import { documentedLimits } from "../src/options/limits.ts";
import { type AnySchema, zodOf } from "../src/service/common.ts";
import { inferred, type OperationFacts, type ReplayClass } from "../src/service/define.ts";
import { operations } from "../src/service/operations.ts";
import {
  errorAnswers,
  errorComponents,
  errorSchema,
  type Json,
  nameOf,
  schemaComponents,
  successStatus,
} from "./openapi-schemas.ts";
import { resources, summaries } from "./openapi-summaries.ts";

/** An operation of any type. */
export interface AnyOperation extends OperationFacts {
  readonly replay: ReplayClass | ((input: never) => ReplayClass);
  readonly weight?: (input: never) => number;
  readonly input: AnySchema;
  readonly output: AnySchema;
}

/** The replay class. Only `companies.create` has two: one with a domain, and one without. */
const replayOf = ({ replay }: AnyOperation): Json | ReplayClass => {
  if (typeof replay !== "function") return replay;
  // The function reads only the domain.
  const replayFor = (input: { readonly domain?: string }) => replay(input as never);
  return { withDomain: replayFor({ domain: "example.com" }), withoutDomain: replayFor({}) };
};

const reference = (schema: AnySchema): Json | undefined => {
  const name = nameOf(schema);
  return name === undefined ? undefined : { $ref: `#/components/schemas/${name}` };
};

const idParameter = {
  name: "id",
  in: "path",
  required: true,
  description: "An opaque identifier, encoded as one segment.",
  schema: { type: "string", minLength: 1, maxLength: 1_024 },
};

const queryParameters = (operation: AnyOperation): Json[] => {
  const { properties = {}, required = [] } = z.toJSONSchema(zodOf(operation.input), {
    io: "input",
    unrepresentable: "any",
  });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
};

const parametersOf = (operation: AnyOperation): Json[] => [
  ...(operation.path.includes(":id") ? [idParameter] : []),
  ...(operation.method === "GET" ? queryParameters(operation) : []),
];

const json = (schema: Json): Json => ({ "application/json": { schema } });

const bodyOf = (same: readonly AnyOperation[]): Json | undefined => {
  const schemas = same.map(({ input }) => reference(input)).filter((schema) => schema !== undefined);
  const [first] = schemas;
  if (same[0]?.method === "GET" || first === undefined) return undefined;
  return { required: true, content: json(schemas.length === 1 ? first : { oneOf: schemas }) };
};

const answersOf = (same: readonly AnyOperation[]): Json =>
  Object.fromEntries(
    same.map((operation) => {
      const schema = reference(operation.output);
      const description = summaries[operation.id]?.answer;
      return [successStatus(operation.id), { description, ...(schema && { content: json(schema) }) }];
    }),
  );

/**
 * Describes the operations with the same method and path as one OpenAPI operation. Sending and scheduling an email differ only
 * in body and status.
 */
export const operationObject = (same: readonly AnyOperation[]): Json => {
  const [first] = same;
  if (first === undefined) throw new Error("no operation");
  const body = bodyOf(same);
  const sends = first.budgets.includes("emails");
  return {
    operationId: first.id,
    summary: same.map(({ id }) => summaries[id]?.does).join(" Or: "),
    tags: [first.id.split(".")[0]],
    security: [{ key: [...first.scope] }],
    parameters: parametersOf(first),
    ...(body && { requestBody: body }),
    responses: { ...answersOf(same), ...errorAnswers(first.id, sends) },
    "x-methods": same.map(({ id }) => id),
    ...(Object.hasOwn(inferred, first.id) && { "x-inferred": true }),
    "x-replay": replayOf(first),
    "x-budgets": [...first.budgets],
    ...(first.weight && { "x-weight": "each event uses 1 of the last budget" }),
  };
};

/** The file of the document. */
export const openApiFile = new URL("../docs/openapi.json", import.meta.url);

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const all: readonly AnyOperation[] = Object.values(operations).flatMap((resource) =>
  Object.values<AnyOperation>(resource),
);

const groupBy = <T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] => {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups];
};

const paths = (): Json =>
  Object.fromEntries(
    groupBy(all, ({ path }) => path.replace(":id", "{id}")).map(([path, onPath]) => [
      path,
      Object.fromEntries(
        groupBy(onPath, ({ method }) => method.toLowerCase()).map(([method, same]) => [
          method,
          operationObject(same),
        ]),
      ),
    ]),
  );

/** The service as an OpenAPI 3.1 document, generated from `src/service`. */
export const openApiDocument = (): Json => ({
  openapi: "3.1.0",
  info: {
    title: "Touchpoint",
    version,
    summary: "Contacts, companies, lists, events and one-to-one email.",
    description:
      "Generated from the operations and schemas of touchpoint-sdk. `x-inferred` marks operations whose path or " +
      "method the service document does not give. `2XX` means that it gives no status. `x-replay` describes the effect " +
      "of a repeated request, and `x-budgets` lists the limits of `x-limits` that a request uses.",
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [
    {
      url: "{base_url}",
      description: "The service document names no host.",
      variables: { base_url: { default: "https://touchpoint.invalid" } },
    },
  ],
  security: [{ key: [] }],
  tags: Object.keys(operations).map((name) => ({ name, description: resources[name] })),
  paths: paths(),
  components: {
    securitySchemes: { key: { type: "http", scheme: "bearer", description: "The API key." } },
    schemas: { Error: errorSchema, ...schemaComponents() },
    responses: errorComponents(),
  },
  "x-limits": documentedLimits,
});

/** The text that the committed file must have. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv[1] === import.meta.filename) writeFileSync(openApiFile, openApiText());
