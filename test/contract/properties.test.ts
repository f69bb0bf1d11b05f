import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ValidationError } from "../../src/errors.ts";
import { operations } from "../../src/service/operations.ts";
import { randomCases } from "../support/random-cases.ts";
import { properties } from "./properties-calls.ts";
import { faultsOf, noId } from "./properties-faults.ts";
import { id as oddId } from "./properties-inputs.ts";
import { apiKey, createWorld, type Sent } from "./properties-world.ts";

// The same inputs in every build; PROPERTY_SEED looks at others.
const run = {
  seed: Number(process.env.PROPERTY_SEED ?? 1),
  numRuns: Number(process.env.PROPERTY_RUNS ?? randomCases(50)),
};

/** The input as JSON must carry it: times in UTC with milliseconds, nothing where undefined stood. */
const asJson = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, isTime(name, inner) ? new Date(inner).toISOString() : asJson(inner)]),
  );
};

const isTime = (name: string, value: unknown): value is string =>
  (name === "sendAt" || name === "occurredAt") && typeof value === "string";

const asQuery = (value: unknown): unknown =>
  Object.fromEntries(Object.entries(Object(asJson(value))).map(([name, inner]) => [name, String(inner)]));

const read = ({ target, body, ...rest }: Sent) => {
  const { pathname, searchParams } = new URL(target, "https://service.test");
  const query = Object.fromEntries(searchParams);
  return { ...rest, path: pathname, query, body: body === undefined ? undefined : JSON.parse(body) };
};

/** An event without an id leaves with one. */
const withoutGivenIds = (body: unknown, wanted: unknown): unknown => {
  if (Array.isArray(body) && Array.isArray(wanted))
    return body.map((item, index) => withoutGivenIds(item, wanted[index]));
  if (typeof body !== "object" || body === null || typeof wanted !== "object" || wanted === null) return body;
  if ("events" in body && "events" in wanted) return { events: withoutGivenIds(body.events, wanted.events) };
  if (!("id" in body) || "id" in wanted) return body;
  expect(body.id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  const { id: _id, ...rest } = body;
  return rest;
};

test("every operation has its properties", () => {
  const ids = Object.values(operations).flatMap((resource) => Object.values(resource).map(({ id }) => id));
  expect(properties.map(({ operation }) => operation).sort()).toEqual(ids.sort());
});

describe("any valid input reaches the service as documented, and is accepted", () => {
  test.each(properties)("$operation is $method $path", async (property) => {
    const { operation, method, path, payload, id = "", wire = (same: unknown) => same, call } = property;
    const authorization = `Bearer ${apiKey}`;
    const agent = expect.stringMatching(/^touchpoint-sdk/);
    const plain = { accept: "application/json", authorization, "user-agent": agent };
    const withBody = { ...plain, "content-type": "application/json" };
    await fc.assert(
      fc.asyncProperty(payload, async (given) => {
        const { client, sandbox, sent } = await createWorld();
        const before = inspect(given, { depth: null });
        // The arbitrary of the same property made it.
        await call(client, given as never, id);
        expect(inspect(given, { depth: null })).toBe(before);
        const content = asJson(wire(given as never));
        const [request, ...others] = sent.map(read);
        expect(others).toEqual([]);
        const body = withoutGivenIds(request?.body, content);
        const isQuery = method === "GET";
        expect({ ...request, body }).toEqual({
          method,
          path: path.replace(":id", id),
          query: isQuery ? asQuery(content) : {},
          body: isQuery ? undefined : content,
          headers: isQuery || content === undefined ? plain : withBody,
        });
        const { requests } = sandbox.state;
        expect(requests.at(-1)).toMatchObject({ operation, applied: true, body: request?.body });
      }),
      run,
    );
  });
});

describe("any id stays one segment of its path", () => {
  test.each(properties.filter(({ id }) => id !== undefined))("$operation", async (property) => {
    const { method, path, payload, call } = property;
    const before = path.split("/").indexOf(":id");
    await fc.assert(
      fc.asyncProperty(oddId, payload, async (id, given) => {
        const { client, sent } = await createWorld();
        // As above. Nobody has the id, so what comes back is a 404.
        await expect(call(client, given as never, id)).rejects.toMatchObject({ status: 404 });
        expect(sent).toHaveLength(1);
        expect(sent[0]?.method).toBe(method);
        const segments = sent[0]?.target.split("/") ?? [];
        expect(segments.map((segment, at) => (at === before ? ":id" : segment)).join("/")).toBe(path);
        expect(decodeURIComponent(segments[before] ?? "")).toBe(id);
      }),
      run,
    );
  });
});

// Nothing ever reaches it.
const untouched = await createWorld();

/** Calls with a faulty input; nothing may be sent, and the error must name the operation and the field. */
const refused = async (
  { operation, call }: (typeof properties)[number],
  given: unknown,
  { id, field }: { readonly id: unknown; readonly field: string },
): Promise<void> => {
  const { client, sent } = untouched;
  // A method that throws instead of rejecting fails here. Wrong types are the point.
  const answer = Promise.resolve(call(client, given as never, id as string));
  const error: unknown = await answer.catch((thrown: unknown) => thrown);
  expect(sent).toEqual([]);
  if (!(error instanceof ValidationError)) throw new Error("no ValidationError", { cause: error });
  expect(error.outcome).toBe("not-applied");
  expect(error.message.startsWith(`${operation}: `)).toBe(true);
  expect(error.issues.map(({ path, message }) => path || message).join()).toContain(field);
};

describe("an invalid input never leaves, and the error names the field", () => {
  const cases = properties.flatMap((property) =>
    (faultsOf[property.operation] ?? []).map((fault) => ({ ...property, ...fault, property })),
  );

  test("every operation has its faults", () => {
    expect(Object.keys(faultsOf).sort()).toEqual(properties.map(({ operation }) => operation).sort());
  });

  test.each(cases)("$operation: $field", async ({ property, field, payload }) => {
    await fc.assert(
      fc.asyncProperty(payload, (given) => refused(property, given, { id: property.id, field })),
      run,
    );
  });

  test.each(properties.filter(({ id }) => id !== undefined))("$operation: its id", async (property) => {
    await fc.assert(
      fc.asyncProperty(noId, property.payload, (id, given) => refused(property, given, { id, field: "id" })),
      run,
    );
  });
});
