import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/index.ts";
import { run, scratch } from "../package/support/scratch.ts";
import { root } from "../support/programs.ts";
import { runtimes } from "./install.ts";

const countRows = `
import { DatabaseSync } from "node:sqlite";
const rows = new DatabaseSync("contacts.db").prepare("SELECT id, email FROM contacts ORDER BY id").all();
console.log(JSON.stringify(rows));
`;

test("examples/incremental-sqlite.mjs keeps a copy of every contact on Node 24", async () => {
  const [program = ""] = runtimes.find(({ name }) => name === "Node 24")?.command ?? [];
  const project = await scratch([]);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  sandbox.seedContacts(450);
  const server = await sandbox.listen();
  const environment = { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: "key" };
  const printed = async (file: string): Promise<unknown> => {
    const { stdout, stderr, code } = await run(program, [file], project.folder, environment);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  const example = "incremental-sqlite.mjs";
  try {
    await cp(join(root, "examples", example), join(project.folder, example));
    await project.write("rows.mjs", countRows);
    expect(await printed(example)).toEqual({ added: 450, changed: 0, removed: 0 });
    const [first, second] = sandbox.state.contacts;
    sandbox.removeContact(first?.id ?? "");
    sandbox.removeContact(second?.id ?? "");
    sandbox.addContact({ email: "new@example.com" });
    expect(await printed(example)).toEqual({ added: 1, changed: 0, removed: 2 });
    const contacts = sandbox.state.contacts.map(({ id, email }) => ({ id, email }));
    expect(await printed("rows.mjs")).toEqual(contacts.sort((a, b) => (a.id < b.id ? -1 : 1)));
  } finally {
    await server.close();
    await project.remove();
  }
});
