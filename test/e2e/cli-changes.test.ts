import { describe, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import type { CliEnding } from "../support/cli.ts";
import { cliScene, key } from "../support/cli-scene.ts";

const scene = cliScene();
const { start, runText, idsInService } = scene;

describe("contacts changes", () => {
  const command = ["contacts", "changes", "--snapshot", "snap"];
  const recordsOf = ({ ended, stdout, stderr }: CliEnding) => {
    const records = stdout.split("\n").filter(Boolean);
    return { ended, stderr, records: records.map((record) => JSON.parse(record)) };
  };
  const changes = async (...args: readonly string[]) => recordsOf(await runText(...command, ...args));

  test("writes all contacts at first, then those added, changed and removed", async () => {
    scene.sandbox.seedContacts(3);
    const first = recordsOf(await start(...command).ended);
    expect(first).toMatchObject({
      ended: 0,
      stderr: expect.stringMatching(/3 added, 0 changed, 0 removed\n$/),
    });
    expect(first.records.map(({ kind }) => kind)).toEqual(["added", "added", "added"]);
    const [gone = "", kept = ""] = idsInService();
    scene.sandbox.removeContact(gone);
    const client = new Client({ apiKey: key, baseUrl: scene.server.url });
    await client.contacts.update(kept, { title: "Owner" });
    await client.close();
    scene.sandbox.addContact({ email: "late@example.com" });

    const second = await changes();
    const byKind = Object.fromEntries(second.records.map((record) => [record.kind, record]));
    expect(byKind).toMatchObject({
      added: { contact: { email: "late@example.com" } },
      changed: { contact: { id: kept, title: "Owner" } },
      removed: { id: gone },
    });
    expect(second.stderr).toMatch(/1 added, 1 changed, 1 removed\n$/);
    expect((await changes()).records).toEqual([]);
  });

  test("refuses another search than the snapshot's, and requires --snapshot", async () => {
    await changes();
    const { ended, stderr } = await changes("--search", "ada");
    expect({ ended, stderr }).toEqual({ ended: 1, stderr: expect.stringContaining("snap") });
    expect(await runText("contacts", "changes")).toMatchObject({
      ended: 2,
      stderr: expect.stringContaining("--snapshot <path> is missing"),
    });
  });
});
