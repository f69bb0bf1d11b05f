import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

test("close waits for the promises that onOutcome returns", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  let finish: () => void = () => undefined;
  const stored: string[] = [];
  const recorder = client.events.recorder({
    onOutcome: async ({ outcome }) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      stored.push(outcome);
    },
  });
  const contact = { email: "ada@example.com" };
  await recorder.record({ name: "signed.up", contact });
  let hasClosed = false;
  const closing = client.close().then(() => {
    hasClosed = true;
  });
  await new Promise(setImmediate);
  expect([hasClosed, stored]).toEqual([false, []]);
  finish();
  await closing;
  expect(stored).toEqual(["PROCESSED"]);
});
