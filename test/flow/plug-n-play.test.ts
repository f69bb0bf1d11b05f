import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeCsv } from "../../src/files/index.ts";
import { Client, fileLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

/** Replaces the methods that a FileHandle does not have under Yarn Plug'n'Play, until the test ends. */
const withoutSync = async (path: string): Promise<void> => {
  const handle = await open(path);
  await handle.close();
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  for (const name of ["sync", "datasync", "utimes", "readv"] as const) {
    const original = prototype[name];
    onTestFinished(() => void Object.assign(prototype, { [name]: original }));
    const missing = () => {
      throw new Error("Method not implemented.");
    };
    Object.assign(prototype, { [name]: missing });
  }
};

test("under Yarn Plug'n'Play, files are written, resumed and read as elsewhere", async () => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-pnp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await withoutSync(folder);
  const sandbox = createSandbox({ apiKeys: ["key"] });
  sandbox.seedContacts(3);
  const ledger = fileLedger(join(folder, "sent"));
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, ledger });

  const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
  for (const _ of [1, 2]) await client.emails.send(email, { once: "hi:1" });
  await writeCsv(join(folder, "a.csv"), client.contacts.list(), { checkpoint: join(folder, "a.checkpoint") });
  const changes: unknown[] = [];
  const snapshot = join(folder, "snapshot");
  for await (const { kind } of client.contacts.changes({ snapshot })) changes.push(kind);
  await client.events.ingest([{ name: "seen", contact: { email: "ada@example.com" } }], {
    checkpoint: join(folder, "events.checkpoint"),
  });
  await client.close();

  expect(sandbox.state.emails).toHaveLength(1);
  // The email has created a contact.
  expect(readFileSync(join(folder, "a.csv"), "utf8").trim().split("\n")).toHaveLength(5);
  expect(changes).toEqual(["added", "added", "added", "added"]);
});
