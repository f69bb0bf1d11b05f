import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const options = { apiKey: "key", baseUrl: "http://localhost", limits: false } as const;

test("a header of the caller's replaces the library's own, however it is spelt", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ ...options, fetch: sandbox.fetch, headers: { "User-Agent": "ours/1" } });
  await client.contacts.list();
  expect(sandbox.state.requests.at(-1)?.headers["user-agent"]).toBe("ours/1");
});

test("an undefined header is left out, the client's own and the library's too", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const headers = { "x-team": "a", "x-trace": undefined };
  const client = new Client({ ...options, fetch: sandbox.fetch, headers });
  await client.contacts.list();
  await client.contacts.list({}, { headers: { "X-Team": undefined, "user-agent": undefined, "x-own": "b" } });
  const sent = sandbox.state.requests.map(({ headers: left }) =>
    ["x-team", "x-trace", "x-own", "user-agent"].filter((name) => name in left),
  );
  expect(sent).toEqual([["x-team", "user-agent"], ["x-own"]]);
});
