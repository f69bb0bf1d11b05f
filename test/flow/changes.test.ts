import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Client, type ContactChange } from "../../src/index.ts";
import {
  changesOf,
  checkpoint,
  emptyFolder,
  folder,
  idsAfter,
  idsIn,
  partial,
  since,
  told,
  workspace,
} from "../support/changes.ts";

afterEach(emptyFolder);

test("an abort ends a pass before its next change, and the next pass yields that page again", async () => {
  const { client } = workspace(450);
  const abort = new AbortController();
  const taken: ContactChange[] = [];
  const pass = async () => {
    for await (const change of client.contacts.changes({ snapshot: since, signal: abort.signal })) {
      taken.push(change);
      if (taken.length === 250) abort.abort("enough");
    }
  };
  await expect(pass()).rejects.toBe("enough");
  expect(taken).toHaveLength(250);
  expect(await changesOf(client)).toHaveLength(250);
});

test("a first run yields every contact as added, and a second nothing", async () => {
  const { client, sandbox } = workspace(450);
  const first = await changesOf(client);
  expect(first.map((change) => change.kind !== "removed" && change.contact.id)).toEqual(
    sandbox.state.contacts.map(({ id }) => id),
  );
  expect(first.every(({ kind }) => kind === "added")).toBe(true);
  expect(await changesOf(client)).toEqual([]);
  expect(readdirSync(folder)).toEqual(["contacts.snapshot"]);
  expect(statSync(since).mode & 0o777).toBe(0o600);
});

test("a later run yields added contacts, changed contacts with their changed fields, and removed contacts", async () => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  const [first, second, third] = sandbox.state.contacts;
  sandbox.advance(1_000);
  await client.contacts.update(first?.id ?? "", { phone: "+44 1", customFields: { plan: null, seats: 3 } });
  sandbox.removeContact(third?.id ?? "");
  await client.contacts.create({ email: "new@example.com" });
  const changes = await changesOf(client);
  expect(changes.map(told)).toEqual([
    ["changed", first?.email, "customFields.plan", "customFields.seats", "phone", "updatedAt"],
    ["added", "new@example.com"],
    ["removed", third?.id],
  ]);
  expect(changes[0]).toMatchObject({ contact: { id: first?.id, phone: "+44 1" } });
  expect(await changesOf(client)).toEqual([]);
  sandbox.removeContact(second?.id ?? "");
  expect((await changesOf(client)).map(told)).toEqual([["removed", second?.id]]);
});

test("a snapshot holds a line a contact: its id, and 128 bits of SHA-256 a field", async () => {
  const { client, sandbox } = workspace(1);
  await changesOf(client);
  const [header, contact, ...others] = readFileSync(since, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(header).toMatchObject({ format: "touchpoint-contacts", version: 1, query: {} });
  const hash = (value: unknown) =>
    createHash("sha256").update(JSON.stringify(value)).digest().toString("base64url", 0, 16);
  const [{ id = "", ...fields } = {}] = sandbox.state.contacts;
  const { name, listIds } = fields as { name?: string; listIds?: string[] };
  expect(contact).toMatchObject({
    id,
    fields: { name: hash(name), listIds: hash(listIds), "customFields.plan": hash("free") },
  });
  expect(others).toEqual([{ complete: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test("a contact that was removed and comes back is added", async () => {
  const { client, sandbox } = workspace(3);
  await changesOf(client);
  const { id = "", email = "" } = sandbox.state.contacts[1] ?? {};
  sandbox.removeContact(id);
  await changesOf(client);
  sandbox.addContact({ email });
  expect((await changesOf(client)).map(told)).toEqual([["added", email]]);
});

test("a run that was left continues with the page whose changes were not all consumed", async () => {
  const { client, sandbox } = workspace(600);
  const emails = sandbox.state.contacts.map(({ email }) => email);
  expect(await changesOf(client, 250)).toHaveLength(250);
  expect(existsSync(since)).toBe(false);
  const requests = sandbox.state.requests.length;
  const rest = await changesOf(client);
  // The first page of 200 was taken.
  expect(rest.map(told)).toEqual(emails.slice(200).map((email) => ["added", email]));
  expect(sandbox.state.requests.length - requests).toBe(3);
  expect(await changesOf(client)).toEqual([]);
});

test("a contact that was yielded as added and then removed is yielded as removed by the next run", async () => {
  const { client, sandbox } = workspace(600);
  // The second page is told in part, twice: two runs that are killed.
  const all = [...(await changesOf(client, 250)), ...(await changesOf(client, 40))];
  for (const at of [210, 220]) sandbox.removeContact(sandbox.state.contacts[at]?.id ?? "");
  const rest = await changesOf(client);
  expect(rest.filter(({ kind }) => kind === "removed")).toHaveLength(2);
  expect(idsAfter([...all, ...rest])).toEqual(idsIn(sandbox));
  // Nor does the snapshot know them.
  expect(await changesOf(client)).toEqual([]);
});

test("a run that was killed before its snapshot was renamed is finished, and forgets no contact", async () => {
  const { client, sandbox } = workspace(250);
  const all: ContactChange[] = [];
  const run = async (): Promise<void> => {
    for await (const change of client.contacts.changes({ snapshot: since })) {
      all.push(change);
      // A folder cannot be replaced.
      if (all.length === 250) mkdirSync(since);
    }
  };
  await expect(run()).rejects.toThrow(`snapshot ${since} cannot be written`);
  rmdirSync(since);
  expect(readdirSync(folder)).toEqual(["contacts.snapshot.partial", "contacts.snapshot.partial.json"]);
  for (const at of [10, 240]) sandbox.removeContact(sandbox.state.contacts[at]?.id ?? "");
  all.push(...(await changesOf(client)), ...(await changesOf(client)));
  expect(idsAfter(all)).toEqual(idsIn(sandbox));
  expect(await changesOf(client)).toEqual([]);
});

test("a change that was yielded and reverted before the run continues is yielded again", async () => {
  const { client, sandbox } = workspace(600);
  await changesOf(client);
  const [{ id = "", email } = {}] = sandbox.state.contacts;
  const state = join(folder, "state.json");
  await sandbox.save(state);
  sandbox.advance(1_000);
  await client.contacts.update(id, { title: "New" });
  const changed = ["changed", email, "title", "updatedAt"];
  expect((await changesOf(client, 1)).map(told)).toEqual([changed]);
  await sandbox.load(state);
  // Twice: the run that tells it once more is killed as well.
  expect((await changesOf(client, 1)).map(told)).toEqual([changed]);
  expect((await changesOf(client)).map(told)).toEqual([changed]);
  expect(await changesOf(client)).toEqual([]);
});

test("a field that was yielded and changed back is yielded again, beside other changes of its contact", async () => {
  const { client, sandbox } = workspace(600);
  await changesOf(client);
  const [{ id = "", email, name } = {}] = sandbox.state.contacts;
  sandbox.advance(1_000);
  await client.contacts.update(id, { name: "Somebody", title: "New" });
  const changed = ["changed", email, "name", "title", "updatedAt"];
  expect((await changesOf(client, 1)).map(told)).toEqual([changed]);
  await client.contacts.update(id, { name });
  // Twice: the caller may have processed the first run and not the second.
  expect((await changesOf(client, 1)).map(told)).toEqual([changed]);
  expect((await changesOf(client)).map(told)).toEqual([changed]);
  expect(await changesOf(client)).toEqual([]);
});

test("a page counts as processed when the next one is requested", async () => {
  const { client } = workspace(600);
  const pages = client.contacts.changes({ snapshot: since }).pages();
  expect((await pages.next()).value).toHaveLength(200);
  await pages.next();
  await pages.return?.();
  const rest = [];
  for await (const page of client.contacts.changes({ snapshot: since }).pages()) rest.push(page.length);
  // Pages share two contacts with the one before.
  expect(rest).toEqual([198, 198, 4]);
});

test("a removal that was not consumed is yielded again", async () => {
  const { client, sandbox } = workspace(5);
  await changesOf(client);
  const gone = sandbox.state.contacts.slice(0, 2).map(({ id }) => id);
  for (const id of gone) sandbox.removeContact(id);
  const removed = gone.map((id) => ["removed", id]);
  expect((await changesOf(client, 1)).map(told)).toEqual(removed.slice(0, 1));
  expect((await changesOf(client)).map(told)).toEqual(removed);
  expect(await changesOf(client)).toEqual([]);
});

test("a contact that changes between two runs of a pass is yielded with its newer state", async () => {
  const { client, sandbox } = workspace(450);
  await changesOf(client);
  sandbox.advance(1_000);
  for (const at of [0, 300]) {
    const { id = "" } = sandbox.state.contacts[at] ?? {};
    await client.contacts.update(id, { phone: "1" });
  }
  expect(await changesOf(client, 2)).toHaveLength(2);
  const { id = "", email } = sandbox.state.contacts[300] ?? {};
  await client.contacts.update(id, { title: "New" });
  const [again] = await changesOf(client);
  expect(again && told(again)).toEqual(["changed", email, "phone", "title", "updatedAt"]);
});

test("a search has its own snapshot: contacts that it no longer matches are removed", async () => {
  const { client, sandbox } = workspace(12);
  expect(await changesOf(client, undefined, "p1")).toHaveLength(3);
  const { id = "" } = sandbox.state.contacts.find(({ email }) => email === "p11@example.com") ?? {};
  await client.contacts.update(id, { email: "other@example.com", name: "Other" });
  expect((await changesOf(client, undefined, "p1")).map(told)).toEqual([["removed", id]]);
});

test("onProgress counts the contacts compared, of all", async () => {
  const { client } = workspace(450);
  const seen: (readonly [number, number | undefined])[] = [];
  const onProgress = ({ done, total }: { done: number; total: number | undefined }) => {
    seen.push([done, total]);
  };
  for await (const _ of client.contacts.changes({ snapshot: since, onProgress })) if (seen.length > 1) break;
  for await (const _ of client.contacts.changes({ snapshot: since, onProgress }));
  expect(seen.at(-1)).toEqual([450, 450]);
});

test.each([
  [null, undefined],
  ["450", 450],
])("onProgress has a number or nothing for a total of %j", async (total, told) => {
  const { sandbox } = workspace(450);
  const fetch: typeof globalThis.fetch = async (...request) => {
    const page = await (await sandbox.fetch(...request)).json();
    return Response.json({ ...Object(page), total });
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false });
  const totals: unknown[] = [];
  const onProgress = (progress: { total: number | undefined }) => void totals.push(progress.total);
  for await (const _ of client.contacts.changes({ snapshot: since, onProgress }));
  expect(totals.at(-1)).toBe(told);
});

test("what a killed run has written beyond its checkpoint does not count", async () => {
  const { client } = workspace(600);
  await changesOf(client, 401);
  appendFileSync(partial, '{"id":"half');
  // Two pages of 200 were taken, and pages share two contacts with the one before.
  expect(await changesOf(client)).toHaveLength(202);
  expect(await changesOf(client)).toEqual([]);
});

const ofMissing = "which is missing or damaged. To start over, delete the checkpoint";

test.each([
  ["its draft is cut", () => truncateSync(partial, statSync(partial).size - 1), ofMissing],
  ["its draft is gone", () => rmSync(partial), ofMissing],
  [
    "another byte is in its draft",
    () => writeFileSync(partial, readFileSync(partial, "utf8").replace("ct_", "cu_")),
    ofMissing,
  ],
  ["its checkpoint is cut", () => truncateSync(checkpoint, 10), "is cut short or is not JSON"],
])("a killed run cannot continue when %s, and says what to delete", async (_, damage, message) => {
  const { client, sandbox } = workspace(600);
  await changesOf(client, 401);
  damage();
  const requests = sandbox.state.requests.length;
  const error = await changesOf(client).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "ConfigurationError", message: expect.stringContaining(message) });
  expect(error).toMatchObject({ message: expect.stringContaining(`checkpoint ${checkpoint} `) });
  expect(sandbox.state.requests).toHaveLength(requests);
  rmSync(checkpoint);
  expect(await changesOf(client)).toHaveLength(600);
  expect(readdirSync(folder)).toEqual(["contacts.snapshot"]);
});

test("if two runs overlap, the second continues and the first fails", async () => {
  const { client } = workspace(600);
  const pages = client.contacts.changes({ snapshot: since }).pages();
  await pages.next();
  expect(await changesOf(client, 1)).toHaveLength(1);
  const other = client.contacts.changes({ snapshot: since }).pages();
  await other.next();
  await other.next();
  await expect(pages.next()).rejects.toThrow(`${partial}: another run is writing this file`);
  await other.return?.();
  expect((await changesOf(client)).length).toBeGreaterThan(0);
  expect(await changesOf(client)).toEqual([]);
});

test("if the list no longer contains the saved position, the next run starts again", async () => {
  const { client, sandbox } = workspace(2_600);
  const all = await changesOf(client, 2_401);
  const contacts = sandbox.state.contacts;
  for (const { id } of contacts.slice(1, 2_599)) sandbox.removeContact(id);
  for (let at = 0; at < 2_600; at += 1) sandbox.addContact({ email: `later${at}@example.com` });
  await expect(changesOf(client)).rejects.toMatchObject({ name: "ResponseValidationError" });
  all.push(...(await changesOf(client)), ...(await changesOf(client)));
  expect(idsAfter(all)).toEqual(idsIn(sandbox));
  expect(await changesOf(client)).toEqual([]);
});

test("a saved position that is damaged or of another version makes the next run start again", async () => {
  const { client } = workspace(600);
  await changesOf(client, 401);
  const damaged = readFileSync(checkpoint, "utf8").replace(/"cursor":"[^"]+"/, '"cursor":"e30"');
  writeFileSync(checkpoint, damaged);
  await expect(changesOf(client)).rejects.toThrow("cursor: must be the cursor of a page of this list");
  expect(await changesOf(client)).toHaveLength(202);
  expect(await changesOf(client)).toEqual([]);
});

test.each([
  [{ snapshot: "" }, "snapshot must be the path of a snapshot"],
  [{ snapshot: since, snapshoot: "x" }, 'there is no option "snapshoot"'],
  [{ snapshot: since, search: 3 }, "search must be a text"],
  [{ snapshot: since, onProgress: 3 }, "onProgress must be a function"],
  [{ snapshot: since, maxRetries: -1 }, "maxRetries must be a whole number of at least 0"],
  [null, "snapshot must be the path of a snapshot"],
])("%j is refused before anything is sent", async (options, message) => {
  const { client, sandbox } = workspace(1);
  // What a JavaScript program may give.
  const changes = client.contacts.changes(options as unknown as { snapshot: string });
  await expect(changes.pages().next()).rejects.toMatchObject({
    name: "ValidationError",
    message: expect.stringContaining(message),
  });
  expect([sandbox.state.requests.length, readdirSync(folder)]).toEqual([0, []]);
});

test("a snapshot that cannot be read or written is reported with its path", async () => {
  const { client } = workspace(1);
  const at = (path: string) => client.contacts.changes({ snapshot: path }).pages().next();
  await expect(at(folder)).rejects.toThrow(`snapshot ${folder} cannot be read: it is not a file`);
  const nowhere = join(folder, "missing", "snapshot");
  await expect(at(nowhere)).rejects.toThrow(`${nowhere}.partial.json cannot be written: ENOENT`);
});
