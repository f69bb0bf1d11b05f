import { Request as OtherRequest } from "undici";
import { expect, test } from "vitest";
import { createSandbox } from "../../../src/sandbox/index.ts";

const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
const url = "http://localhost/api/v1/events";
const body = JSON.stringify({ name: "x", contact: { email: "eve@example.com" } });
const init = {
  method: "POST",
  headers: { authorization: "Bearer key", "content-type": "application/json" },
  body,
};
// Of another library, as under happy-dom: `instanceof Request` is false.
const other = new OtherRequest(url, init) as unknown as Request;

test.each<[string, ...Parameters<typeof fetch>]>([
  ["a Request", new Request(url, init)],
  ["a Request of another library", other],
  ["a Request whose body the second argument replaces", new Request(url, { ...init, body: "{}" }), { body }],
  ["a URL", new URL(url), init],
  ["bytes", url, { ...init, body: Buffer.from(body) }],
  ["a Blob", url, { ...init, body: new Blob([body]) }],
])("%s is read as fetch reads it", async (_what, input, more) => {
  const before = sandbox.state.events.length;
  const response = await sandbox.fetch(input, more);
  expect([response.status, sandbox.state.events.length - before]).toEqual([202, 1]);
});

test("the signal of a Request of another library ends the call", async () => {
  const gone = new OtherRequest(url, { ...init, signal: AbortSignal.abort("gone") }) as unknown as Request;
  await expect(sandbox.fetch(gone)).rejects.toBe("gone");
});
