import { expect, test } from "vitest";
import { Client, type UnknownFields } from "../../../src/index.ts";
import { anything, ruleFaults } from "../../../src/runtime/rules.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

const world = (unknownFields: UnknownFields) => {
  const sandbox = createSandbox({ apiKeys: ["tp_key"] });
  const lines: unknown[] = [];
  const note = (_text: string, fields: object) => lines.push(fields);
  const logger = { debug: note, info: note, warn: note, error: note };
  const client = new Client({
    ...{ apiKey: "tp_key", baseUrl: "https://crm.example", fetch: sandbox.fetch },
    ...{ logger, unknownFields },
  });
  return { client, sandbox, lines };
};

const contact: object = { email: "ada@example.com", firstName: "Ada" };
const event: object = { name: "signed.up", contact: { email: "ada@example.com" }, occured_at: "2026-01-01" };

test("error refuses a field that the document does not name, and says which is meant", async () => {
  const { client, sandbox } = world({ mode: "error" });
  await expect(client.contacts.create(contact as { email: string })).rejects.toMatchObject({
    issues: [{ path: "firstName" }],
  });
  await expect(client.events.record(event as never)).rejects.toMatchObject({
    issues: [
      {
        path: "occured_at",
        message: 'the service\'s document has no such field (did you mean "occurredAt"?)',
      },
    ],
  });
  expect(sandbox.state.requests).toEqual([]);
});

test("warn sends it, and logs its name", async () => {
  const { client, sandbox, lines } = world({ mode: "warn" });
  await client.contacts.create(contact as { email: string });
  expect(lines).toEqual([{ operation: "contacts.create", fields: ["firstName"] }]);
  expect(sandbox.state.requests).toHaveLength(1);
});

test.each([{ mode: "error", allow: ["firstName"] }, { mode: "pass" }, {}] as const)(
  "%j sends it",
  async (how) => {
    const { client, lines } = world(how);
    await client.contacts.create(contact as { email: string });
    expect(lines).toEqual([]);
  },
);

test("a wrong mode is refused", () => {
  expect(() => world({ mode: "strict" } as never)).toThrow("unknownFields.mode must be");
});

test.each([
  ["retries", "maxRetries"],
  ["maxRetry", "maxRetries"],
  ["idempotencyKey", "once"],
  ["timeout", "timeoutMs"],
  ["timeuotMs", "timeoutMs"],
])("instead of %s, %s is meant", (name, meant) => {
  const known = { maxRetries: anything, once: anything, timeoutMs: anything };
  expect(ruleFaults({ [name]: 1 }, known)).toEqual([
    `there is no option "${name}" (did you mean "${meant}"?)`,
  ]);
});
