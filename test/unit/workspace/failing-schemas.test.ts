import { describe, expect, test } from "vitest";
import { served } from "../resources/served.ts";

const cause = new Error("no such plan table");

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;
const schemaOf = (validate: () => unknown): never =>
  loose({ "~standard": { version: 1, vendor: "own", validate } });

const shape = new TypeError("validate must return { value } or { issues: [...] }");
const failing: readonly (readonly [string, () => unknown, Error])[] = [
  [
    "throws",
    () => {
      throw cause;
    },
    cause,
  ],
  ["rejects", () => Promise.reject(cause), cause],
  ["answers undefined", () => undefined, shape],
  ["answers null", async () => null, shape],
  ["answers true", () => true, shape],
  ["answers issues that are no array", () => ({ issues: "bad" }), shape],
];

const contact = { email: "ada@example.com" };
const event = { name: "order.placed", contact, properties: { total: 9 } };

describe.each(failing)("a schema that %s", (_, validate, error) => {
  const service = () =>
    served([], { customFields: schemaOf(validate), events: { "order.placed": schemaOf(validate) } });
  const failed = (operation: string, path: string, name: string) => {
    const message = `cannot be checked: the schema ${name} failed (${error})`;
    return {
      ...{ name: "ValidationError", code: "input_invalid", operation, outcome: "not-applied", cause: error },
      ...{ message: `${operation}: ${path}: ${message}`, issues: [{ path, message }] },
    };
  };

  test("ends a call of contacts before anything is sent, and is named", async () => {
    const { client, requests } = service();
    const input = { ...contact, customFields: { plan: "pro" } };
    const as = (operation: string) => failed(operation, "customFields", "customFields");
    await expect(client.contacts.create(input)).rejects.toMatchObject(as("contacts.create"));
    await expect(client.contacts.update("1", input)).rejects.toMatchObject(as("contacts.update"));
    await expect(client.contacts.upsert(input)).rejects.toMatchObject(as("contacts.upsert"));
    expect(requests).toEqual([]);
  });

  test("ends a call of events before anything is sent, and is named", async () => {
    const { client, requests } = service();
    const as = (operation: string) => failed(operation, "properties", 'events["order.placed"]');
    await expect(client.events.record(loose(event))).rejects.toMatchObject(as("events.record"));
    const { properties: _none, ...bare } = event;
    await expect(client.events.record(loose(bare))).rejects.toMatchObject(as("events.record"));
    await expect(client.events.recordBatch([loose(event)])).rejects.toMatchObject(as("events.recordBatch"));
    expect(requests).toEqual([]);
  });
});
