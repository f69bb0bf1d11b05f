import { inspect } from "node:util";
import { expect, test } from "vitest";
import { PermissionDeniedError, TimeoutError } from "../../../src/errors.ts";
import { hintOf } from "../../../src/http/hints.ts";
import { AttemptFailure, type FailureKind } from "../../../src/http/types.ts";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

const answered = (status: number) =>
  new AttemptFailure("status", `status ${status}`, {
    wasSent: true,
    response: { status, headers: {}, text: "", json: { error: "no" }, isJson: true },
  });

const failed = (kind: FailureKind, message: string, code?: string, text = "") =>
  new AttemptFailure(kind, message, {
    wasSent: false,
    cause: Object.assign(new Error(message), { code }),
    response: { status: 200, headers: {}, text, json: undefined, isJson: false },
  });

test.each([
  [answered(401), "contacts.list", "belongs to the service at baseUrl"],
  [answered(401), "contacts.list", "no gateway removes the header Authorization"],
  [answered(405), "contacts.update", "allow GET, POST, PATCH and DELETE"],
  [answered(407), "contacts.list", "in the option proxy"],
  [answered(413), "emails.send", "increase the limit"],
  [answered(403), "contacts.list", "does not name the scope of this request"],
  [answered(403), "lists.addContacts", "the scopes lists:write and contacts:write"],
  [answered(404), "emails.scheduled.cancel", "does not specify the method and response"],
  [answered(405), "lists.create", "correct the path or method with the option routes"],
  [answered(409), "contacts.create", "use contacts.upsert"],
  [answered(409), "lists.create", "store the id"],
  [failed("connection", "no connection to localhost:1", "ECONNREFUSED"), "contacts.list", "is the sandbox"],
  [failed("connection", "no connection to 127.0.0.1:1", "ECONNREFUSED"), "contacts.list", "is the sandbox"],
  [failed("connection", "no connection to [::1]:1", "ECONNREFUSED"), "contacts.list", "is the sandbox"],
  [failed("connection", "no connection to crm.example:1", "ECONNREFUSED"), "contacts.list", "host and port"],
  [failed("connection", "x", "SELF_SIGNED_CERT_IN_CHAIN"), "contacts.list", "NODE_EXTRA_CA_CERTS"],
  [failed("connection", "x", "ENOTFOUND"), "contacts.list", "host name of baseUrl"],
  [failed("redirect", "status 301"), "contacts.list", "as baseUrl"],
  [failed("broken", "no JSON", undefined, "<!doctype html>"), "contacts.list", "a web page"],
  [failed("too-large", "more than 1 byte"), "contacts.list", "maxResponseBytes"],
])("%s of %s has the hint: %s", (failure, operation, part) => {
  expect(hintOf(failure, operation)).toContain(part);
});

test.each([
  ["ECONNREFUSED", "check that the proxy is running"],
  ["ENOTFOUND", "host name of the proxy"],
  ["EAI_AGAIN", "host name of the proxy"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the URL of the proxy"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "host name of the proxy"],
  ["UND_ERR_PRX_TLS", "host name of the proxy"],
  ["ECONNRESET", "the URL of the proxy"],
  ["ECONNRESET", "can reach the host and port of baseUrl"],
  ["PROXY_SPEAKS_NO_HTTP", "this port does not speak http"],
  ["PROXY_ANSWERED_407", "user name and password"],
  ["PROXY_ANSWERED_401", "user name and password"],
  ["PROXY_ANSWERED_403", "does not allow this connection"],
  ["PROXY_ANSWERED_502", "cannot reach the service"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"],
])("%s of a proxy has a hint about the proxy: %s", (code, part) => {
  expect(hintOf(failed("connection", "the proxy p:1: x", code), "contacts.list")).toContain(part);
});

test.each([
  [answered(404), "contacts.update"],
  [answered(409), "contacts.update"],
  [answered(429), "contacts.list"],
  [answered(500), "contacts.list"],
  [failed("timeout", "late"), "contacts.list"],
  [failed("connection", "reset", "ECONNRESET"), "contacts.list"],
  [failed("broken", "no JSON", undefined, "{"), "contacts.list"],
])("%s of %s says all in its message", (failure, operation) => {
  expect(hintOf(failure, operation)).toBeUndefined();
});

test("the hint of a firewall's page with a 403 is not about the key", () => {
  const page = new AttemptFailure("status", "status 403", {
    wasSent: true,
    response: {
      ...{ status: 403, headers: {}, json: undefined, isJson: false },
      text: "<title>Access denied</title>",
    },
  });
  expect(hintOf(page, "emails.send")).toMatch(/a gateway or firewall probably refused the request/);
});

test("a 403 says which scope the key needs, and leaves the service's sentence as it is", async () => {
  const sandbox = createSandbox({ apiKeys: [{ key: "tp_reader", scopes: ["contacts:write"] }] });
  const lines: unknown[] = [];
  const note = (_text: string, fields: object) => lines.push(fields);
  const client = new Client({
    apiKey: "tp_reader",
    baseUrl: "https://crm.example",
    fetch: sandbox.fetch,
    logger: { debug: note, info: note, warn: note, error: note },
    logLevel: "debug",
  });
  const error = await client.events
    .record({ name: "order.placed", contact: { email: "ada@example.com" } })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PermissionDeniedError);
  const hint =
    "the key may lack the scope events:write, its creator's role may not allow this, or the request has headers of a browser, such as Origin";
  expect(error).toMatchObject({ hint, message: expect.not.stringContaining("creator") });
  expect(inspect(error)).toContain(hint);
  expect(JSON.stringify(lines)).toContain(hint);
  await client.close();
});

test("a 429 that ends a call says which limit is paused, and for how long", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"] });
  const client = new Client({
    apiKey: "key",
    baseUrl: "https://crm.example",
    fetch: sandbox.fetch,
    maxRetries: 0,
  });
  const contact = { email: "ada@example.com" };
  sandbox.fail({ operation: "events.record", with: { status: 429 } });
  await expect(client.events.record({ name: "order.placed", contact })).rejects.toMatchObject({
    hint: "the limit events is paused: try again later",
  });
  sandbox.fail({ operation: "contacts.create", with: { status: 429, retryAfter: 3_600 } });
  await expect(client.contacts.create(contact)).rejects.toMatchObject({
    ...{ code: "rate_limited", retryAfterMs: 3_600_000 },
    hint: "the limit requests is paused: try again in 3600 s",
  });
  await client.close();
});

test("an error without a hint prints no line for it", () => {
  expect(inspect(new TimeoutError("late"))).not.toContain("hint:");
});
