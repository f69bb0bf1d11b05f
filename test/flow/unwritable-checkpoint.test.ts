import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const people = Array.from({ length: 3 }, (_, at) => ({ email: `person${at}@example.com` }));
const events = people.map((contact) => ({ name: "signed_up", contact }));

test.each([
  ["import", (client: Client, checkpoint: string) => client.contacts.import(people, { checkpoint })],
  ["ingestion", (client: Client, checkpoint: string) => client.events.ingest(events, { checkpoint })],
])("an %s whose checkpoint cannot be written sends nothing", async (_, run) => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-checkpoint-"));
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  try {
    // No folder of this name: root may write everywhere else.
    const checkpoint = join(folder, "missing", "run.json");
    await expect(run(client, checkpoint)).rejects.toMatchObject({
      name: "ConfigurationError",
      message: expect.stringContaining(`checkpoint ${checkpoint} cannot be written`),
    });
    expect(sandbox.state.requests).toEqual([]);
  } finally {
    await client.close();
    rmSync(folder, { recursive: true });
  }
});
