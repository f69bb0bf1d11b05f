import * as z from "zod/mini";
import type { OperationFacts, ReplayClass } from "../src/service/define.ts";
import { errorAnswers, successStatus } from "./openapi-answers.ts";
import { type Json, nameOf } from "./openapi-schemas.ts";
import { summaries } from "./openapi-summaries.ts";

/** Any operation, whatever its types. */
export interface AnyOperation extends OperationFacts {
  readonly replay: ReplayClass | ((input: never) => ReplayClass);
  readonly weight?: (input: never) => number;
  readonly input: z.core.$ZodType;
  readonly output: z.core.$ZodType;
}

/** What decides the replay class of the one operation that has no fixed one. */
const replayOf = ({ replay }: AnyOperation): Json | ReplayClass => {
  if (typeof replay !== "function") return replay;
  // It reads nothing but the domain.
  const ask = (input: { readonly domain?: string }) => replay(input as never);
  return { withDomain: ask({ domain: "example.com" }), withoutDomain: ask({}) };
};

const reference = (schema: z.core.$ZodType): Json | undefined => {
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
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, {
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
 * The operations of one method and path as an OpenAPI operation: sending and scheduling differ only by body and
 * status, and OpenAPI has one place for both.
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
    responses: { ...answersOf(same), ...errorAnswers(sends) },
    "x-methods": same.map(({ id }) => id),
    ...(first.evidence === "inferred" && { "x-inferred": true }),
    "x-replay": replayOf(first),
    "x-budgets": [...first.budgets],
    ...(first.weight && { "x-weight": "one of the last budget for each event" }),
  };
};
