import { describe, expect, test } from "vitest";
import { createSandbox, type SandboxOptions } from "../../../src/sandbox/index.ts";
import { open } from "./client.ts";
import { refusalOf } from "./refusal-of.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

describe("the options of a sandbox", () => {
  const account = { id: "a" };
  const refused: [options: unknown, problem: string | RegExp][] = [
    [{ apikeys: ["k"] }, 'there is no option "apikeys" (did you mean "apiKeys"?)'],
    [{ foo: 1 }, /: there is no option "foo"$/],
    [[], "the options must be an object, got an Array"],
    ["key", 'the options must be an object, got "key"'],
    [{ apiKeys: "key" }, 'apiKeys must be an array, got "key"'],
    [{ apiKeys: [""] }, "apiKeys[0] must be a string without blanks"],
    [{ apiKeys: ["a", "b", "a"] }, "apiKeys[2] is a duplicate"],
    [
      { apiKeys: [{ key: "k", scope: [] }] },
      'apiKeys[0]: there is no option "scope" (did you mean "scopes"?); the options are key, workspace, scopes, ',
    ],
    [
      { apiKeys: [{ key: "k", scopes: ["contact:write"] }] },
      /apiKeys\[0\]\.scopes\[0\] must be .*, got "contact:write" \(did you mean "contacts:write"\?\)$/,
    ],
    [
      { apiKeys: [{ key: "k", expiresAt: "soon" }] },
      'apiKeys[0].expiresAt must be a Date or an ISO 8601 string, got "soon"',
    ],
    [
      { apiKeys: [{ key: "k", role: "boss" }] },
      'apiKeys[0].role must be "admin", "editor" or "viewer", got "boss"',
    ],
    [
      { mailAccounts: [account], apiKeys: [{ key: "k", mailAccount: "b" }] },
      'apiKeys[0].mailAccount: the workspace has no mail account "b"',
    ],
    [{ limits: true }, "limits must be an object, or false"],
    [
      { limits: { request: 5 } },
      'limits: there is no option "request" (did you mean "requests"?); the options are requests, ',
    ],
    [
      { limits: { requests: 0 } },
      "limits.requests must be a number above 0, { max, windowMs }, or false for no limit",
    ],
    [{ limits: { requests: { max: 0, windowMs: 1 } } }, "limits.requests.max must be a number above 0"],
    [{ limits: { events: { max: 1 } } }, "limits.events.windowMs must be a number above 0, got undefined"],
    [{ latencyMs: -1 }, "latencyMs must be milliseconds, or [min, max] with 0 <= min <= max, got -1"],
    [{ latencyMs: [5, 1] }, "latencyMs must be milliseconds, or [min, max] with 0 <= min <= max"],
    [{ clock: { now: () => 0 } }, "clock must be a clock with the functions now, wallTime, after, sleep"],
    [{ seed: "x" }, "seed must be a number"],
    [
      { order: "newest" },
      'order must be "oldest-first" or "newest-first", got "newest" (did you mean "newest-first"?)',
    ],
    [{ keepRequests: -1 }, "keepRequests must be a whole number of at least 0, got -1"],
    [
      { customFields: { plan: "string" } },
      'customFields.plan must be "text", "number", "boolean" or "date", got "string"',
    ],
    [
      { mailAccounts: [{ name: "a" }] },
      /mailAccounts\[0\]: there is no option "name"; the options are id, .*; mailAccounts\[0\]\.id must be a non-empty string, got undefined$/,
    ],
    [
      { automations: [{ name: "a", startOn: "x" }] },
      'automations[0]: there is no option "startOn" (did you mean "startsOn"?); the options are name, ',
    ],
    [{ tracking: "no" }, 'tracking must be true or false, got "no"'],
    [
      { workspaces: { b: { doNotMail: [] } } },
      'workspaces.b: there is no option "doNotMail" (did you mean "doNotEmail"?); the options are customFields, ',
    ],
    [
      { workspaces: { default: {} } },
      "workspaces.default: its settings belong at the top level, not in workspaces",
    ],
    [{ tracking: 1, order: 2 }, /tracking must .*; order must /],
  ];

  test.each(refused)("%j are refused", (options, problem) => {
    expect(refusalOf(() => createSandbox(loose(options)))).toMatch(problem);
  });

  test("null and undefined mean no options", async () => {
    for (const options of [null, undefined]) {
      const sandbox = createSandbox(loose(options));
      const { url, close } = await sandbox.listen(loose(options));
      expect((await fetch(`${url}/`)).status).toBe(200);
      await close();
    }
    const absent: SandboxOptions = { apiKeys: loose(undefined), limits: loose(undefined) };
    expect(refusalOf(() => createSandbox(absent))).toBe("accepted");
  });
});

describe("what is done by hand", () => {
  const { sandbox } = open({ apiKeys: ["k", { key: "l", workspace: "b" }], workspaces: { c: {} } });
  const refused: [name: string, call: () => unknown, problem: string][] = [
    [
      "an advance",
      () => sandbox.advance(Number.NaN),
      "sandbox.advance: ms must be a number of milliseconds, at least 0, that keeps the clock within the range of a JavaScript Date (to the year 275760), got NaN",
    ],
    ["a workspace", () => sandbox.stateOf("d"), 'workspace must be "default", "c" or "b", got "d"'],
    [
      "a workspace's contact",
      () => sandbox.addContact({ email: "a@b.co" }, "d"),
      'workspace must be "default", "c" or "b", got "d"',
    ],
    [
      "a contact",
      () => sandbox.addContact(loose({ name: "Ada" })),
      "sandbox.addContact: email must be a non-empty string, got undefined",
    ],
    [
      "a count",
      () => sandbox.seedContacts(-1),
      "sandbox.seedContacts: count must be a whole number of at least 0, got -1",
    ],
    ["a key", () => sandbox.updateKey("none", {}), "sandbox.updateKey: there is no such key"],
    [
      "a key's change",
      () => sandbox.updateKey("k", loose({ isRevoked: true })),
      'there is no option "isRevoked"',
    ],
    [
      "a change",
      () => sandbox.updateMailAccount("mail-1", loose({ failed: "x" })),
      'sandbox.updateMailAccount: there is no option "failed"',
    ],
    [
      "an account",
      () => sandbox.updateMailAccount("mail-2", {}),
      'there is no account "mail-2" (did you mean "mail-1"?)',
    ],
    [
      "an address",
      () => sandbox.doNotEmail(loose(undefined)),
      "sandbox.doNotEmail: address must be a non-empty string, got undefined",
    ],
  ];

  test.each(refused)("%s that cannot be is refused", (_, call, problem) => {
    expect(refusalOf(call)).toContain(problem);
  });

  test("a place to listen that cannot be is refused", async () => {
    await expect(sandbox.listen(loose({ prot: 1 }))).rejects.toThrow(
      'there is no option "prot" (did you mean "port"?)',
    );
    await expect(sandbox.listen({ port: 70_000 })).rejects.toThrow(
      "port must be a whole number from 0 to 65535",
    );
  });

  test("an address is given to one contact only", () => {
    const opened = open().sandbox;
    opened.addContact({ email: "ada@example.com" });
    expect(refusalOf(() => opened.addContact({ email: "ADA@example.com" }))).toBe(
      "sandbox.addContact: a contact with this email already exists",
    );
    opened.seedContacts(9);
    opened.removeContact(opened.state.contacts[3]?.id ?? "");
    opened.seedContacts(5);
    const addresses = opened.state.contacts.map(({ email }) => email);
    expect([addresses.length, new Set(addresses).size]).toEqual([14, 14]);
  });
});
