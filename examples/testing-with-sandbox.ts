// Tests code that uses the client against the sandbox: the service in memory, with failures on demand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";

const signUp = async (client: Client, email: string): Promise<void> => {
  await client.contacts.upsert({ email, customFields: { plan: "trial" } });
  await client.events.record({ name: "signed.up", contact: { email } });
};

test("a sign-up is recorded once although its response was lost", async () => {
  const sandbox = createSandbox({ apiKeys: ["test-key"] });
  const client = new Client({ apiKey: "test-key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  sandbox.fail({ operation: "events.record", nth: 1, with: "reset-after-apply" });

  await signUp(client, "ada@example.com");

  assert.deepEqual(
    sandbox.state.contacts.map(({ email }) => email),
    ["ada@example.com"],
  );
  assert.deepEqual(
    sandbox.state.events.map(({ name, repeats }) => ({ name, repeats })),
    [{ name: "signed.up", repeats: 1 }],
  );
});
