import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { changesOf, emptyFolder, folder, partial, since, workspace } from "../support/changes.ts";

afterEach(emptyFolder);

const writesTo = (bytes: Buffer) => writeFileSync(since, bytes);

const refusals: readonly (readonly [string, (bytes: Buffer) => void, RegExp])[] = [
  [
    "is empty",
    () => writesTo(Buffer.alloc(0)),
    /is cut short or is not JSON\. To start over, delete the snapshot/,
  ],
  ["is a CSV file", () => writesTo(Buffer.from("id,email\n")), /is cut short or is not JSON/],
  [
    "lacks its last byte",
    (bytes) => writesTo(bytes.subarray(0, -1)),
    /is cut short or damaged\. Restore it from a copy/,
  ],
  [
    "was cut in the middle",
    (bytes) => writesTo(bytes.subarray(0, bytes.length / 2)),
    /is cut short or damaged/,
  ],
  [
    "has another byte in the middle",
    (bytes) =>
      writesTo(
        bytes.fill(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
      ),
    /is cut short or damaged/,
  ],
  [
    "is of a newer version",
    (bytes) =>
      writesTo(Buffer.from(bytes.toString("latin1").replace('"version":1', '"version":2'), "latin1")),
    /was saved by a newer touchpoint-sdk \(version 2 of snapshots\)\. Update touchpoint-sdk here to use it/,
  ],
];

test.each(refusals)("a snapshot that %s is refused, and stays as it is", async (_, damage, message) => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  damage(readFileSync(since));
  const before = readFileSync(since);
  const requests = sandbox.state.requests.length;
  await expect(changesOf(client)).rejects.toMatchObject({
    name: "ConfigurationError",
    message: expect.stringMatching(message),
  });
  expect(readFileSync(since).equals(before)).toBe(true);
  expect(sandbox.state.requests).toHaveLength(requests);
  expect(readdirSync(folder)).toEqual(["contacts.snapshot"]);
});

test("a snapshot of another query is refused, and so is a run of one", async () => {
  const { client } = workspace(450);
  await changesOf(client);
  await expect(changesOf(client, undefined, "p1")).rejects.toThrow(
    `snapshot ${since} was made with another query, {}: use that query, or another snapshot path`,
  );
  rmSync(since);
  await changesOf(client, 1, "p1");
  await expect(changesOf(client)).rejects.toThrow(
    `snapshot ${partial} was made with another query, {"search":"p1"}`,
  );
});

test("a snapshot of another workspace is refused before anything is yielded", async () => {
  await changesOf(workspace(450).client);
  const before = readFileSync(since);
  const other = workspace(0, "other", "another-key");
  for (const at of [1, 2, 3]) other.sandbox.addContact({ email: `other${at}@example.com` });
  await expect(changesOf(other.client)).rejects.toThrow(
    `snapshot ${since} seems to belong to another workspace: none of its 450 contacts is in the list`,
  );
  const empty = workspace(0, "none", "another-key");
  await expect(changesOf(empty.client)).rejects.toThrow("seems to belong to another workspace");
  expect(readFileSync(since).equals(before)).toBe(true);
  expect(readdirSync(folder)).toEqual(["contacts.snapshot"]);
});

test("with the same key all contacts may have gone, before a run and within one", async () => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  for (const { id } of [...sandbox.state.contacts]) sandbox.removeContact(id);
  const late = sandbox.addContact({ email: "late@example.com" });
  const changes = await changesOf(client, 1);
  expect(changes).toMatchObject([{ kind: "added", contact: { id: late.id } }]);
  sandbox.removeContact(late.id);
  const rest = await changesOf(client);
  expect(rest.map(({ kind }) => kind)).toEqual(Array.from({ length: 451 }, () => "removed"));
  expect(await changesOf(client)).toEqual([]);
});

test("with another key, any contact identifies the workspace, wherever it is in the list", async () => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  for (const { id } of sandbox.state.contacts.slice(0, 449)) sandbox.removeContact(id);
  const rotated = client.withOptions({ apiKey: "new-key" });
  expect(await changesOf(rotated)).toHaveLength(449);
  // The new snapshot is of the new key.
  for (const { id } of sandbox.state.contacts) sandbox.removeContact(id);
  await expect(changesOf(client)).rejects.toThrow("seems to belong to another workspace");
  expect(await changesOf(rotated)).toHaveLength(1);
});

test("a run whose snapshot was deleted or replaced by an older one starts again", async () => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  const copy = join(folder, "copy");
  copyFileSync(since, copy);
  for (const { id } of sandbox.state.contacts) await client.contacts.update(id, { phone: "1" });
  await changesOf(client, 300);
  rmSync(since);
  const all = await changesOf(client);
  expect([all.length, all[0]?.kind]).toEqual([450, "added"]);
  await changesOf(client, 1);
  copyFileSync(copy, since);
  const again = await changesOf(client);
  expect([again.length, again[0]?.kind]).toEqual([450, "changed"]);
});
