import { setupServer } from "msw/node";
import { Client } from "touchpoint-sdk";
import {
  type ContactRecord,
  createSandbox,
  documentedLimits,
  type Listening,
  type PlannedFault,
  type Sandbox,
  type SandboxState,
} from "touchpoint-sdk/sandbox";
import { expectTypeOf, test } from "vitest";

declare const sandbox: Sandbox;

test("a sandbox is made of options that exist, or of none", () => {
  expectTypeOf(createSandbox()).toEqualTypeOf<Sandbox>();
  createSandbox({
    apiKeys: ["key", { key: "other", scopes: ["email:write"] }],
    customFields: { plan: "text" },
  });
  createSandbox({
    limits: { requests: 5, emails: { max: 1, windowMs: 1 } },
    latencyMs: [1, 5],
  });
  // @ts-expect-error keys are many
  createSandbox({ apiKeys: "key" });
  // @ts-expect-error no such scope
  createSandbox({ apiKeys: [{ key: "key", scopes: ["email:read"] }] });
  // @ts-expect-error no such kind of field
  createSandbox({ customFields: { plan: "string" } });
  // @ts-expect-error no such limit
  createSandbox({ limits: { mails: 5 } });
  // @ts-expect-error no such option
  createSandbox({ latency: 5 });
});

test("a client and MSW can use it", () => {
  new Client({ fetch: sandbox.fetch });
  setupServer(...sandbox.handlers);
  // @ts-expect-error its fetch, not itself
  new Client({ fetch: sandbox });
  // @ts-expect-error a request goes somewhere
  sandbox.fetch();
  // @ts-expect-error handlers, not the sandbox
  setupServer(sandbox);
});

test("its state is read, and not written", () => {
  expectTypeOf(sandbox.stateOf("default")).toEqualTypeOf<SandboxState>();
  expectTypeOf(sandbox.state.counts.requests).toEqualTypeOf<number>();
  // @ts-expect-error of which workspace?
  sandbox.stateOf();
  // @ts-expect-error through addContact
  sandbox.state.contacts.push({ email: "ada@example.com" });
  // @ts-expect-error through the API
  sandbox.state.companies.clear();
});

test("it listens on a port of a host, and ends", () => {
  expectTypeOf(sandbox.listen({ port: 0, host: "127.0.0.1" })).resolves.toEqualTypeOf<Listening>();
  const listening = {} as Listening;
  expectTypeOf(listening.close()).resolves.toEqualTypeOf<void>();
  // @ts-expect-error a port has a name here
  sandbox.listen(8080);
  // @ts-expect-error a number
  sandbox.listen({ port: "8080" });
  // @ts-expect-error it ends at once
  listening.close({ afterMs: 1 });
});

test("faults are planned in known words, and taken back", () => {
  const planned = sandbox.fail({ operation: "contacts.list", nth: 2, with: "reset-before" });
  expectTypeOf(planned).toEqualTypeOf<PlannedFault>();
  expectTypeOf(planned.remove()).toEqualTypeOf<void>();
  sandbox.fail({ with: { status: 503, retryAfter: new Date().toUTCString() } });
  sandbox.fail({ with: { status: 307, headers: { location: "https://elsewhere.example" } } });
  sandbox.fail({ with: { items: [0, 2], status: 400 } });
  // @ts-expect-error with what?
  sandbox.fail({ operation: "contacts.list" });
  // @ts-expect-error no such fault
  sandbox.fail({ with: "reset" });
  // @ts-expect-error a fault is no plain status
  sandbox.fail({ with: 503 });
  // @ts-expect-error items are many
  sandbox.fail({ with: { items: 0 } });
  // @ts-expect-error all of it
  planned.remove(1);
});

test("its clock moves by milliseconds", () => {
  expectTypeOf(sandbox.advance(1_000)).toEqualTypeOf<void>();
  // @ts-expect-error by how much?
  sandbox.advance();
  // @ts-expect-error a time that passes, not a moment
  sandbox.advance(new Date());
});

test("it is frozen, reset, saved and loaded", () => {
  expectTypeOf(sandbox.freeze()).toEqualTypeOf<void>();
  sandbox.freeze(false);
  expectTypeOf(sandbox.reset()).toEqualTypeOf<void>();
  expectTypeOf(sandbox.save("sandbox.json")).resolves.toEqualTypeOf<void>();
  expectTypeOf(sandbox.load("sandbox.json")).resolves.toEqualTypeOf<void>();
  // @ts-expect-error all of it
  sandbox.reset("default");
  // @ts-expect-error into a file
  sandbox.save();
});

test("people at the website put contacts in, and take them out", () => {
  sandbox.seedContacts(10, (index) => ({ name: `Person ${index}`, stage: "REPLIED" }));
  expectTypeOf(sandbox.addContact({ email: "ada@example.com" }, "other")).toEqualTypeOf<
    Readonly<ContactRecord>
  >();
  expectTypeOf(sandbox.removeContact("id")).toEqualTypeOf<boolean>();
  sandbox.doNotEmail("ada@example.com", false, "other");
  // @ts-expect-error how many?
  sandbox.seedContacts();
  // @ts-expect-error a field of a contact
  sandbox.seedContacts(10, () => ({ stage: 1 }));
  // @ts-expect-error the address is required
  sandbox.addContact({ name: "Ada" });
  // @ts-expect-error the sandbox gives the id
  sandbox.addContact({ email: "ada@example.com", id: "id" });
  // @ts-expect-error its id
  sandbox.removeContact({ email: "ada@example.com" });
  // @ts-expect-error one address
  sandbox.doNotEmail(["ada@example.com"]);
});

test("people at the website change mail accounts and keys", () => {
  sandbox.updateMailAccount("id", { connected: false, failing: null });
  sandbox.updateKey("key", { revoked: true, scopes: ["contacts:write"] });
  // @ts-expect-error what changes?
  sandbox.updateMailAccount("id");
  sandbox.updateMailAccount("id", { dailyLimit: 5 });
  // @ts-expect-error a mail account keeps its address
  sandbox.updateMailAccount("id", { from: "Ada <ada@example.com>" });
  sandbox.updateWorkspace({ signatures: [], tracking: false });
  // @ts-expect-error custom fields stay
  sandbox.updateWorkspace({ customFields: {} });
  // @ts-expect-error what changes?
  sandbox.updateKey("key");
  // @ts-expect-error a key stays in its workspace
  sandbox.updateKey("key", { workspace: "other" });
});

test("the documented limits are numbers, as they are", () => {
  expectTypeOf(documentedLimits.emails.max).toEqualTypeOf<20>();
  // @ts-expect-error no such limit
  documentedLimits.mails;
  // @ts-expect-error the document's
  documentedLimits.emails.max = 30;
});
