import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { cliScene, key, lines } from "../support/cli-scene.ts";

const scene = cliScene();
const { at, start, runText, run } = scene;

describe("contacts import", () => {
  test("imports the changed and the new rows of an export, and reports the others", async () => {
    scene.sandbox.seedContacts(3);
    await run("contacts", "export", "--out", "people.csv", "--columns", "id,email,title,verified", "--json");
    const [header, first = "", ...others] = (await readFile(at("people.csv"), "utf8")).trimEnd().split("\n");
    const changed = first.replace(/,[^,]*,false$/, ",Owner,true");
    await writeFile(
      at("people.csv"),
      lines(header, changed, ...others, ",new@example.com,Buyer,", ",nobody,,"),
    );

    const { ended, report } = await run("contacts", "import", "people.csv", "--json");

    expect({ ended, report }).toMatchObject({
      ended: 3,
      report: { read: 5, created: 1, updated: 1, unchanged: 2, rejected: 1 },
    });
    expect(scene.sandbox.state.contacts.map(({ title, verified }) => [title, verified])).toEqual([
      ["Owner", true],
      ["Buyer", false],
      ["Buyer", false],
      ["Buyer", false],
    ]);
  });

  test.each([[["--columns", "email,customFields.seats"]], [[]]])(
    "an export with %j that is imported again changes no number and no text",
    async (columns) => {
      for (const [at, seats] of [3, "3", true, "true", "a;b"].entries())
        scene.sandbox.addContact({ email: `p${at}@example.com`, customFields: { seats } });
      const before = structuredClone(scene.sandbox.state.contacts);
      await run("contacts", "export", "--out", "people.csv", ...columns, "--json");
      const { report } = await run("contacts", "import", "people.csv", "--json");
      expect(report).toMatchObject({ read: 5, unchanged: 5 });
      expect(scene.sandbox.state.contacts).toEqual(before);
    },
  );

  test("reads Windows line ends and column names with blanks around them", async () => {
    await writeFile(
      at("people.csv"),
      "email, name , verified\r\nada@example.com,Ada,true\r\nbob@example.com,Bob,\r\n",
    );
    const { ended, report, stderr } = await run("contacts", "import", "people.csv", "--json");
    expect({ ended, report }).toMatchObject({ ended: 0, report: { read: 2, created: 2 } });
    expect(scene.sandbox.state.contacts.map(({ name, verified }) => [name, verified])).toEqual([
      ["Ada", true],
      ["Bob", false],
    ]);
    expect(stderr).not.toContain("people.csv");
  });

  test("a misspelled column ends the import before any request", async () => {
    await writeFile(at("people.csv"), "email,linked_im\nada@example.com,Ada\n");
    const { ended, stderr, report } = await run("contacts", "import", "people.csv", "--json");
    expect({ ended, report, requests: scene.sandbox.state.requests }).toEqual({
      ended: 2,
      report: undefined,
      requests: [],
    });
    expect(stderr).toMatch(
      /^touchpoint: people\.csv: "linked_im" is not a field of a contact\. To map the columns that are recognized/,
    );
  });

  test.each([
    ["contacts", "import", "For CSV, add --format csv"],
    ["events", "ingest", "Events can be read only from NDJSON"],
  ])("%s %s: CSV on standard input is wrong usage, and nothing is sent", async (noun, verb, advice) => {
    const child = start(noun, verb, "-", "--json");
    child.process.stdin?.end("\nemail,name\nada@example.com,Ada\n");
    const { ended, stderr } = await child.ended;
    expect([ended, scene.sandbox.state.requests]).toEqual([2, []]);
    expect(stderr).toContain(
      `touchpoint: standard input line 2: this looks like CSV, not NDJSON: convert it to NDJSON or, if it contains contacts, give the file a name that ends in .csv. ${advice}\n`,
    );
  });

  test("CSV on standard input is read with --format csv", async () => {
    const child = start("contacts", "import", "-", "--format", "csv", "--json");
    child.process.stdin?.end("email,name\nada@example.com,Ada\n");
    expect(JSON.parse((await child.ended).stdout)).toMatchObject({ read: 1, created: 1 });
  });

  test("an unknown column ends the import before any request", async () => {
    await writeFile(at("people.csv"), "email,city\nada@example.com,Ulm\n");
    const { ended, stderr } = await run("contacts", "import", "people.csv", "--json");
    expect(ended).toBe(2);
    expect(stderr).toContain('people.csv: "city" is not a field of a contact.');
    expect(scene.sandbox.state.counts.requests).toBe(0);
  });

  test("--add-to-list adds the contacts to the list, and an unknown list ends the import", async () => {
    await writeFile(at("people.csv"), "email\nada@example.com\n");
    const client = new Client({ apiKey: key, baseUrl: scene.server.url });
    const { id } = await client.lists.create({ name: "Newsletter" });
    await client.close();
    const add = (list: string) =>
      run("contacts", "import", "people.csv", "--add-to-list", list, "--limits", "off", "--json");
    expect(await add("li_none")).toMatchObject({
      ended: 1,
      stderr: expect.stringContaining("No list with that id in this workspace."),
    });
    expect((await add(id)).report).toMatchObject({ unchanged: 1, rejected: 0 });
    expect(scene.sandbox.state.contacts.map(({ email, listIds }) => [email, listIds])).toEqual([
      ["ada@example.com", [id]],
    ]);
  });

  test("a file that cannot be read has no report", async () => {
    expect(await run("contacts", "import", "none.csv", "--json")).toMatchObject({
      ended: 1,
      report: undefined,
      stderr: expect.stringContaining("none.csv: cannot be read"),
    });
  });
});

describe("contacts import --plan", () => {
  test("writes the result of each row, and changes nothing", async () => {
    scene.sandbox.seedContacts(2);
    await run("contacts", "export", "--out", "people.csv", "--columns", "email,title", "--json");
    const [header, first = "", second] = (await readFile(at("people.csv"), "utf8")).trimEnd().split("\n");
    await writeFile(
      at("people.csv"),
      lines(header, first.replace(/,.*/, ",Owner"), second, "new@example.com,Buyer", "nobody,", "a,b,c"),
    );
    const before = structuredClone(scene.sandbox.state.contacts);
    const { ended, stdout, stderr } = await runText("contacts", "import", "people.csv", "--plan", "--json");
    expect(ended).toBe(3);
    const plan = stdout.trimEnd().split("\n");
    expect(plan.map((row) => JSON.parse(row))).toEqual([
      { index: 0, line: 2, email: expect.stringContaining("@"), result: "update", fields: ["title"] },
      { index: 1, line: 3, email: expect.stringContaining("@"), result: "unchanged" },
      { index: 2, line: 4, email: "new@example.com", result: "create" },
      {
        index: 3,
        line: 5,
        email: "nobody",
        result: "refused",
        reason: expect.stringContaining("email"),
      },
      { index: 4, line: 6, result: "refused", reason: "this row has 3 cells, but the header has 2 columns" },
    ]);
    expect(JSON.parse(stderr.split("\n").at(-2) ?? "")).toMatchObject({
      read: 5,
      created: 1,
      updated: 1,
      unchanged: 1,
      rejected: 2,
    });
    expect(scene.sandbox.state.contacts).toEqual(before);
    expect(scene.sandbox.state.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});
