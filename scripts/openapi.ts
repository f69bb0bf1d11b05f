import { readFileSync, writeFileSync } from "node:fs";
import { documentedLimits } from "../src/options/limits.ts";
import { operations } from "../src/service/operations.ts";
import { errorComponents, errorSchema } from "./openapi-answers.ts";
import { type AnyOperation, operationObject } from "./openapi-operation.ts";
import { type Json, schemaComponents } from "./openapi-schemas.ts";
import { resources } from "./openapi-summaries.ts";

/** Where the document lies. */
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

/** The service as an OpenAPI 3.1 document, made of `src/service`. */
export const openApiDocument = (): Json => ({
  openapi: "3.1.0",
  info: {
    title: "Touchpoint",
    version,
    summary: "Contacts, companies, lists, events and one-to-one email.",
    description:
      "Generated from the operations and schemas of touchpoint-sdk. `x-inferred` marks operations whose path or " +
      "method the service document does not give; `2XX` stands where it gives no status. `x-replay` says what a " +
      "repeat would do, `x-budgets` which limits of `x-limits` a request spends.",
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

/** The bytes of the committed file. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv[1] === import.meta.filename) writeFileSync(openApiFile, openApiText());
