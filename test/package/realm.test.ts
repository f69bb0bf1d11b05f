import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch();
});
afterAll(() => project.remove());

/**
 * Loads the package as Jest does: its files run in a separate realm, and Node's modules stay in the main realm.
 *
 * @param hidden - globals that the realm lacks.
 */
const loaderWithout = (...hidden: readonly string[]): string => `
  const { readFileSync } = require("node:fs");
  const { createRequire } = require("node:module");
  const vm = require("node:vm");
  const realm = vm.createContext({});
  const own = new Set(vm.runInContext("Object.getOwnPropertyNames(globalThis)", realm));
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!own.has(name) && !${JSON.stringify(hidden)}.includes(name)) Object.defineProperty(realm, name, { get: () => globalThis[name], configurable: true });
  }
  const loaded = new Map();
  const load = (file) => {
    if (loaded.has(file)) return loaded.get(file).exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const requireFrom = (id) => (/^[.#]/.test(id) ? load(createRequire(file).resolve(id)) : require(id));
    const text = readFileSync(file, "utf8");
    vm.runInContext("(function (exports, require, module) {" + text + "\\n})", realm, { filename: file })(
      module.exports, requireFrom, module,
    );
    return module.exports;
  };
  const entry = (name) => load(require.resolve(name));
`;

test("the package works in a separate realm, as under Jest", async () => {
  const program = `${loaderWithout()}
    const { Client, fileLedger } = entry("touchpoint-sdk");
    const { createSandbox } = entry("touchpoint-sdk/sandbox");
    const { readCsv, writeCsv } = entry("touchpoint-sdk/files");
    (async () => {
      const server = await createSandbox({ apiKeys: ["tp_key"] }).listen({ port: 0 });
      const client = new Client({ apiKey: "tp_key", baseUrl: server.url, ledger: fileLedger("ledger") });
      const contact = { email: "ada@example.com" };
      await client.contacts.create(contact, { signal: new AbortController().signal });
      const happened = { name: "order.placed", contact, occurredAt: new Date(0), properties: { at: new Date(0) } };
      const { accepted, tooOld } = await client.events.ingest([happened], { checkpoint: "checkpoint" });
      const email = { to: contact.email, subject: "Hello", text: "Hello" };
      const [first, second] = [await client.emails.send(email, { once: "1" }), await client.emails.send(email, { once: "1" })];
      const { status } = await client.emails.schedule({ ...email, sendAt: new Date(Date.now() + 60_000) });
      await writeCsv("contacts.csv", client.contacts.list());
      const rows = [];
      for await (const { email } of readCsv("contacts.csv")) rows.push(email);
      const nobody = new Client({ apiKey: "tp_key", baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
      const refused = await nobody.emails.send(email).catch(({ code, outcome }) => [code, outcome]);
      console.log(JSON.stringify({ accepted, tooOld, once: first.id === second.id, status, rows, refused }));
      await client.close();
      await nobody.close();
      await server.close();
    })();
  `;
  const report = {
    accepted: 1,
    tooOld: 1,
    once: true,
    status: "SCHEDULED",
    rows: ["ada@example.com"],
    refused: ["connection_failed", "not-applied"],
  };
  expect(await project.node("realm.cjs", program)).toEqual({
    code: 0,
    stdout: JSON.stringify(report),
    stderr: "",
  });
});

test("a client and a sandbox need none of the globals of fetch, which Jest's jsdom environment lacks", async () => {
  const hidden = ["fetch", "Headers", "ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder"];
  const program = `${loaderWithout(...hidden)}
    const { Client, mockResponse } = entry("touchpoint-sdk");
    const { createSandbox } = entry("touchpoint-sdk/sandbox");
    (async () => {
      const sandbox = createSandbox({ apiKeys: ["tp_key"] });
      const authorization = "Bearer tp_key";
      const listed = await sandbox.fetch("http://localhost/api/v1/contacts", { headers: { authorization } });
      const { total } = await listed.json();
      const client = new Client({ apiKey: "tp_key", baseUrl: "http://localhost", fetch: sandbox.fetch });
      const contact = { email: "ada@example.com" };
      const { response } = await client.contacts.create(contact).withResponse();
      const type = response.headers.get("content-type");
      const { code, headers } = await client.contacts.create(contact).catch((error) => error);
      sandbox.fail({ operation: "contacts.list", with: "truncate" });
      const again = await client.contacts.list().withResponse();
      const mocked = (await mockResponse(null).withResponse()).response.headers.get("x");
      const at = again.response.attempts;
      console.log(JSON.stringify([total, type, code, headers.get("content-type"), at, mocked]));
      await client.close();
    })();
  `;
  const type = "application/json; charset=utf-8";
  expect(await project.node("hidden.cjs", program)).toEqual({
    code: 0,
    stdout: JSON.stringify([0, type, "conflict", type, 2, null]),
    stderr: "",
  });
});
