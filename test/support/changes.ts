import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ContactChange } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

export const folder = mkdtempSync(join(tmpdir(), "touchpoint-changes-"));
export const since = join(folder, "contacts.snapshot");
export const partial = `${since}.partial`;
export const checkpoint = `${partial}.json`;

/** Empties the folder. Call it after each test, because test files share this module. */
export const emptyFolder = (): void => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
};

export const workspace = (count: number, name = "p", apiKey = "key") => {
  const sandbox = createSandbox({ apiKeys: [apiKey, "new-key"], limits: false });
  sandbox.seedContacts(count, (at) => ({
    email: `${name}${at}@example.com`,
    name: `Person ${at}`,
    customFields: { plan: "free" },
  }));
  const setup = { apiKey, baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false } as const;
  return { sandbox, client: new Client(setup) };
};

export const told = (change: ContactChange): unknown =>
  change.kind === "removed"
    ? ["removed", change.id]
    : [change.kind, change.contact.email, ...(change.kind === "changed" ? change.fields : [])];

/** All changes, or those before the iteration is left. */
export const changesOf = async (client: Client, most = Number.POSITIVE_INFINITY, search?: string) => {
  const changes: ContactChange[] = [];
  for await (const change of client.contacts.changes({ snapshot: since, search })) {
    changes.push(change);
    if (changes.length === most) break;
  }
  return changes;
};

/** The ids in a copy that takes all these changes. */
export const idsAfter = (changes: readonly ContactChange[]): string[] => {
  const ids = new Set<string>();
  for (const change of changes)
    if (change.kind === "removed") ids.delete(change.id);
    else ids.add(change.contact.id);
  return [...ids].sort();
};
export const idsIn = ({ state }: Pick<ReturnType<typeof createSandbox>, "state">): string[] =>
  state.contacts.map(({ id }) => id).sort();
