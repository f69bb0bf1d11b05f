import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { inferred, type OperationFacts } from "../../src/service/define.ts";
import { operations } from "../../src/service/operations.ts";
import { endpoints, samples } from "./samples.ts";

const all = Object.values(operations).flatMap((resource) => Object.values(resource));

test.each(endpoints)("%s %s is an operation, documented and with scopes %j", (method, path, scope) => {
  const found = all.filter((operation) => operation.method === method && operation.path === path);
  expect(found.length).toBeGreaterThan(0);
  for (const operation of found) {
    expect([Object.hasOwn(inferred, operation.id), [...operation.scope].sort()]).toEqual([
      false,
      [...scope].sort(),
    ]);
  }
});

test("every other operation is marked as inferred", () => {
  const given = new Set(endpoints.map(([method, path]) => `${method} ${path}`));
  const others = all.filter(({ method, path }) => !given.has(`${method} ${path}`));
  expect(others.map(({ id }) => id)).toEqual([
    "companies.create",
    "companies.findByDomain",
    "lists.create",
    "emails.scheduled.list",
    "emails.scheduled.update",
    "emails.scheduled.cancel",
  ]);
  expect(Object.keys(inferred)).toEqual(others.map(({ id }) => id));
});

test("the operations of emails, and no other, are marked as such", () => {
  const facts: readonly OperationFacts[] = all;
  const marked = facts.filter(({ isEmail }) => isEmail);
  expect(marked).toEqual(Object.values(operations.emails));
});

test("the operations declare what the schemas of a workspace type", () => {
  const facts: readonly OperationFacts[] = all;
  const typed = facts.flatMap(({ id, typedInput, typedOutput }) =>
    (typedInput ?? typedOutput) === undefined ? [] : [[id, typedInput, typedOutput]],
  );
  expect(typed).toEqual([
    ["contacts.create", "contact", "contact"],
    ["contacts.list", undefined, "page"],
    ["contacts.update", "contact", "contact"],
    ["events.record", "event", undefined],
    ["events.recordBatch", "checked", undefined],
  ]);
});

const { domain: _same, ...companyPatch } = samples.company;
const bodies: Record<string, unknown> = {
  "POST /api/v1/contacts": { email: "new@example.com" },
  "PATCH /api/v1/contacts/:id": { stage: "REPLIED" },
  "PATCH /api/v1/companies/:id": companyPatch,
  "POST /api/v1/lists/:id/contacts": { emails: ["ada@example.com"] },
  "DELETE /api/v1/lists/:id/contacts": { emails: ["ada@example.com"] },
  "POST /api/v1/events": { ...samples.event, createContact: true },
  "POST /api/v1/events/batch": { events: [samples.event] },
  "POST /api/v1/emails": samples.email,
};

test.each(endpoints)(
  "%s %s succeeds in the sandbox with exactly scopes %j",
  async (method, path, scope, status) => {
    const sandbox = createSandbox({
      apiKeys: ["all", { key: "some", scopes: scope }, { key: "none", scopes: [] }],
    });
    const call = async (key: string, verb: string, target: string, body: unknown) => {
      const response = await sandbox.fetch(`https://service.test${target}`, {
        method: verb,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // Only ids are read.
      return { status: response.status, body: (await response.json()) as { id?: string } };
    };
    const ids: Record<string, string | undefined> = {
      contacts: sandbox.addContact({ email: "ada@example.com" }).id,
      companies: (await call("all", "POST", "/api/v1/companies", { companyName: "X" })).body.id,
      lists: (await call("all", "POST", "/api/v1/lists", { name: "X" })).body.id,
    };
    const target = path.replace(":id", ids[path.split("/")[3] ?? ""] ?? "");
    const body = bodies[`${method} ${path}`];
    const answer = await call("some", method, target, body);
    expect(
      status === undefined ? answer.status < 300 : answer.status === status,
      JSON.stringify(answer),
    ).toBe(true);
    if (scope.length > 0) expect((await call("none", method, target, body)).status).toBe(403);
  },
);
