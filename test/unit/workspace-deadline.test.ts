import { expect, test } from "vitest";
import * as z from "zod";
import { Client } from "../../src/client.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("a schema that never answers ends with totalTimeoutMs, and nothing is sent", async () => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"] });
  const client = new Client(
    {
      apiKey: "key",
      baseUrl: "http://localhost",
      fetch: sandbox.fetch,
      totalTimeoutMs: 1_000,
      customFields: z.object({}).refine(() => new Promise(() => undefined)),
    },
    { clock },
  );
  const call = client.contacts.create({ email: "ada@example.com", customFields: {} });
  const ending = expect(call).rejects.toMatchObject({
    name: "TimeoutError",
    operation: "contacts.create",
    outcome: "not-applied",
    attempts: 0,
  });
  await clock.advance(1_000);
  await ending;
  expect(sandbox.state.requests).toEqual([]);
});
