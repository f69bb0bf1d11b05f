import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readCsv, readNdjson } from "../../src/files/index.ts";
import { Client } from "../../src/index.ts";
import { createSandbox, type Listening, type Sandbox } from "../../src/sandbox/index.ts";
import { type CliEnding, type CliRun, program, runHere, startCli } from "../support/cli.ts";

const key = "tp_live_canary";
let folder = "";
let sandbox: Sandbox;
let server: Listening;

const home = process.cwd();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "touchpoint-cli-"));
  sandbox = createSandbox({ apiKeys: [key] });
  server = await sandbox.listen();
  process.chdir(folder);
  vi.stubEnv("TOUCHPOINT_BASE_URL", server.url);
  vi.stubEnv("TOUCHPOINT_API_KEY", key);
  // What the test runner sets for its own colors.
  vi.stubEnv("FORCE_COLOR", undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  process.chdir(home);
  await server.close();
  await rm(folder, { recursive: true });
});

const at = (name: string): string => join(folder, name);
const start = (...args: readonly string[]): CliRun =>
  startCli(args, { cwd: folder, env: { TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: key } });

/** In this process, unless a test is about the process: its signals, its streams, and that it ends. */
const runTold = (...args: readonly string[]): Promise<CliEnding> => runHere(args);

const run = async (...args: readonly string[]) => {
  const { ended, stdout, stderr } = await runTold(...args);
  return { ended, stderr, report: stdout === "" ? undefined : JSON.parse(stdout) };
};

const isThere = (name: string) =>
  vi.waitFor(() => expect(existsSync(at(name))).toBe(true), { timeout: 20_000, interval: 5 });

const exportedIds = async (name: string): Promise<unknown[]> => {
  const ids: unknown[] = [];
  const records = name.includes(".csv") ? readCsv(at(name)) : readNdjson(at(name));
  for await (const { id } of records) ids.push(id);
  return ids;
};

const sorted = (ids: readonly unknown[]): string[] => ids.map(String).sort();
const idsInService = (): string[] => sandbox.state.contacts.map(({ id }) => id);

describe("contacts export", () => {
  const contacts = 1_000;
  // A page near the end never comes, so that the run can be stopped while it waits.
  const stallAt = 4;

  const checkpoint = ["--checkpoint", "export.checkpoint"];

  const stopHalfway = async (out: string, signal: NodeJS.Signals) => {
    sandbox.seedContacts(contacts);
    const stall = sandbox.fail({ operation: "contacts.list", nth: stallAt, with: "stall" });
    const child = start("contacts", "export", "--out", out, ...checkpoint);
    await isThere("export.checkpoint");
    child.process.kill(signal);
    const ending = await child.ended;
    stall.remove();
    return ending;
  };

  test.each(["all.csv", "all.ndjson"])(
    "%s: killed and resumed, nobody is missed or appears twice",
    async (out) => {
      const { ended } = await stopHalfway(out, "SIGKILL");
      expect(ended).toBe("SIGKILL");
      expect(existsSync(at(out))).toBe(false);
      // The world goes on meanwhile: some of those exported leave, and others come.
      const [first, ...others] = idsInService();
      sandbox.removeContact(first ?? "");
      sandbox.addContact({ email: "late@example.com" });
      const requestsBefore = sandbox.state.requests.length;

      const { report } = await run("contacts", "export", "--out", out, ...checkpoint, "--json");

      expect(report).toMatchObject({ file: out, contacts: contacts + 1 });
      expect(report.resumed).toBeGreaterThan(0);
      const late = sandbox.state.contacts.at(-1)?.id;
      expect(sorted(await exportedIds(out))).toEqual(sorted([first, ...others, late]));
      expect(Number(sandbox.state.requests[requestsBefore]?.query.skip)).toBeGreaterThan(0);
      expect(await readdir(folder)).toEqual([out]);
    },
  );

  test("of narrow rows too, what came before the page under way is kept", async () => {
    sandbox.seedContacts(600);
    const stall = sandbox.fail({ operation: "contacts.list", nth: 3, with: "stall" });
    const child = start("contacts", "export", "--out", "ids.csv", "--columns", "id", ...checkpoint);
    const noted = async () => JSON.parse(await readFile(at("export.checkpoint"), "utf8")).records;
    await vi.waitFor(async () => expect(await noted()).toBeGreaterThan(200), {
      timeout: 20_000,
      interval: 5,
    });
    const records = await noted();
    child.process.kill("SIGKILL");
    await child.ended;
    stall.remove();
    expect(await exportedIds("ids.csv.partial")).toHaveLength(records);
    const again = ["--columns", "id", ...checkpoint, "--json"];
    const { report } = await run("contacts", "export", "--out", "ids.csv", ...again);
    expect(report).toMatchObject({ contacts: 600, resumed: records });
    expect(sorted(await exportedIds("ids.csv"))).toEqual(sorted(idsInService()));
  });

  test("SIGINT ends it with 130 and says how to go on", async () => {
    const { ended, stderr } = await stopHalfway("all.csv", "SIGINT");
    expect(ended).toBe(130);
    expect(stderr).toMatch(/touchpoint: stopped\. Run the same command again to go on where it stopped\.\n$/);
    await run("contacts", "export", "--out", "all.csv", ...checkpoint, "--json");
    expect(sorted(await exportedIds("all.csv"))).toEqual(sorted(idsInService()));
  });

  test("without --checkpoint it starts over", async () => {
    await stopHalfway("all.csv", "SIGKILL");
    const { report } = await run("contacts", "export", "--out", "all.csv", "--json");
    expect(report).toMatchObject({ contacts, resumed: 0 });
    expect(sorted(await exportedIds("all.csv"))).toEqual(sorted(idsInService()));
  });

  test.each([
    ["-", "standard output has no --checkpoint"],
    ["all.csv.gz", "a compressed file has no --checkpoint"],
  ])("--out %s with --checkpoint is wrong usage", async (out, message) => {
    const { ended, stderr } = await runTold("contacts", "export", "--out", out, ...checkpoint);
    expect([ended, stderr.startsWith(`touchpoint: ${message}`)]).toEqual([2, true]);
  });

  test("another export cannot go on with its file", async () => {
    await stopHalfway("all.csv", "SIGKILL");
    const { ended, stderr } = await run(
      "contacts",
      "export",
      "--out",
      "all.csv",
      ...checkpoint,
      "--search",
      "ada",
    );
    expect({ ended, stderr }).toEqual({
      ended: 1,
      stderr: expect.stringMatching(
        /^touchpoint: checkpoint .*export\.checkpoint belongs to an export with another query, .*: delete it to start over\n$/,
      ),
    });
  });

  test("goes to standard output, whose reader may go away, with another delimiter", async () => {
    sandbox.seedContacts(300);
    const columns = ["--columns", "email,verified", "--format", "csv", "--delimiter", ";", "--json"];
    const all = await start("contacts", "export", "--out", "-", ...columns).ended;
    expect([all.ended, all.stdout.split("\n").length, all.stdout.split("\n")[0]]).toEqual([
      0,
      302,
      "email;verified",
    ]);
    expect(JSON.parse(all.stderr.split("\n").at(-2) ?? "")).toMatchObject({ file: "-", contacts: 300 });
    const cut = start("contacts", "export", "--out", "-");
    cut.process.stdout?.destroy();
    expect(await cut.ended).toMatchObject({ ended: 141, stderr: expect.not.stringContaining("EPIPE") });
  });

  test("the reader of help or progress may go away", async () => {
    sandbox.seedContacts(300);
    const help = start("--help");
    help.process.stdout?.destroy();
    expect(await help.ended).toMatchObject({ ended: 141, stderr: "" });
    const silent = start("contacts", "export", "--out", "all.csv", "--json");
    silent.process.stderr?.destroy();
    expect(await silent.ended).toMatchObject({ ended: 0 });
    expect(await exportedIds("all.csv")).toHaveLength(300);
  });

  test("a refused key leaves nothing behind, and an unknown column is refused before anything is asked", async () => {
    const { ended, stderr } = await run(
      "contacts",
      "export",
      "--out",
      "all.csv",
      "--columns",
      "email,linked_in",
    );
    expect({ ended, requests: sandbox.state.requests }).toEqual({ ended: 2, requests: [] });
    expect(stderr).toContain(
      '--columns: "linked_in" is not a field of a contact (did you mean "linkedIn"?).',
    );
    sandbox.updateKey(key, { revoked: true });
    expect(await run("contacts", "export", "--out", "all.csv")).toMatchObject({ ended: 1 });
    expect(await readdir(folder)).toEqual([]);
  });

  test("search, columns and compression", async () => {
    sandbox.seedContacts(60);
    await run(
      "contacts",
      "export",
      "--out",
      "a.csv.gz",
      "--search",
      "ada",
      "--columns",
      "email,title",
      "--json",
    );
    const rows: object[] = [];
    for await (const row of readCsv(at("a.csv.gz"))) rows.push(row);
    const found = sandbox.state.contacts.filter(({ email }) => email.includes("ada"));
    expect(rows).toEqual(found.map(({ email, title }) => ({ email, title })));
    expect(rows.length).toBeGreaterThan(0);
  });
});

const event = (index: number) => ({
  id: `e${index}`,
  name: "page.viewed",
  contact: { email: `p${index}@example.com` },
});
const lines = (...items: readonly unknown[]): string =>
  items.map((item) => (typeof item === "string" ? `${item}\n` : `${JSON.stringify(item)}\n`)).join("");
const events = (count: number) => Array.from({ length: count }, (_, index) => event(index));
const recordedOnce = (count: number) => ({
  ids: sorted(sandbox.state.events.map(({ callerId = "" }) => callerId)),
  expected: sorted(events(count).map(({ id }) => id)),
});

describe("events ingest", () => {
  // One batch is answered, so there is a checkpoint; the third never is, so the run is there to be stopped.
  const stopOnTheWay = async (signal: NodeJS.Signals) => {
    const stall = sandbox.fail({ operation: "events.recordBatch", nth: 3, with: "stall" });
    const child = start("events", "ingest", "in.ndjson", ...options);
    await isThere("checkpoint");
    child.process.kill(signal);
    const ending = await child.ended;
    stall.remove();
    return ending;
  };
  const options = ["--checkpoint", "checkpoint", "--rejected", "rejected.ndjson", "--json"];

  test("killed and started again, every event is recorded once and each refusal is kept once", async () => {
    const all = events(200);
    const bad = { id: "bad", name: "service.x", contact: { email: "a@example.com" } };
    await writeFile(
      at("in.ndjson"),
      lines(...all.slice(0, 60), "oops", ...all.slice(60, 120), bad, ...all.slice(120), "[1]"),
    );
    expect(await stopOnTheWay("SIGKILL")).toMatchObject({ ended: "SIGKILL", stdout: "" });
    expect(sandbox.state.events.length).toBeLessThan(200);

    const { ended, report } = await run("events", "ingest", "in.ndjson", ...options);

    expect(ended).toBe(3);
    expect(report).toMatchObject({ read: 203, unknown: 0 });
    expect(report.skipped).toBeGreaterThan(0);
    const { ids, expected } = recordedOnce(200);
    expect(ids).toEqual(expected);
    // Batches run side by side: refusals come in the order in which their batches end.
    const refusals = (await readFile(at("rejected.ndjson"), "utf8")).trim().split("\n");
    expect(refusals.sort()).toEqual(
      lines(
        { index: 60, line: 61, error: "not JSON (Unexpected token 'o')", rejected: "oops" },
        {
          index: 120,
          line: 122,
          email: "a@example.com",
          error: 'name: must not start with "service.": those are for events the service records itself',
          rejected: bad,
        },
        {
          index: 201,
          line: 203,
          error: "not a JSON object; each line must hold one record, { … }",
          rejected: "[1]",
        },
      )
        .trim()
        .split("\n")
        .sort(),
    );
  });

  test("reads standard input, and once more what was refused and corrected", async () => {
    const bad = { id: "bad", name: "service.x", contact: { email: "a@example.com" } };
    const child = start("events", "ingest", "-", "--rejected", "rejected.ndjson", "--json");
    child.process.stdin?.end(lines(event(0), bad, "oops"));
    expect((await child.ended).ended).toBe(3);
    const rejected = await readFile(at("rejected.ndjson"), "utf8");
    await writeFile(at("corrected.ndjson"), rejected.replaceAll("service.x", "page.viewed"));
    const again = await run(
      "events",
      "ingest",
      "corrected.ndjson",
      "--rejected",
      "rejected.ndjson",
      "--json",
    );
    expect(again).toMatchObject({ ended: 3, report: { read: 2, accepted: 1, rejected: 1 } });
    expect(sandbox.state.events.map(({ callerId }) => callerId)).toEqual(["e0", "bad"]);
    expect(JSON.parse(await readFile(at("rejected.ndjson"), "utf8"))).toMatchObject({
      line: 3,
      rejected: "oops",
    });
  });

  test("the file that is read is not taken for the one of the refused", async () => {
    await writeFile(at("in.ndjson"), lines(event(0)));
    const { ended } = await run("events", "ingest", "in.ndjson", "--rejected", "./in.ndjson");
    expect([ended, await readFile(at("in.ndjson"), "utf8")]).toEqual([2, lines(event(0))]);
  });

  test("SIGINT ends it with 130, and the next run goes on", async () => {
    await writeFile(at("in.ndjson"), lines(...events(150)));
    expect(await stopOnTheWay("SIGINT")).toMatchObject({
      ended: 130,
      stdout: "",
      stderr: expect.stringMatching(
        /touchpoint: stopped\. Run the same command again to go on where it stopped\.\n$/,
      ),
    });
    const { ended, report } = await run("events", "ingest", "in.ndjson", ...options);
    expect({ ended, read: report.read, skips: report.skipped > 0 }).toEqual({
      ended: 0,
      read: 150,
      skips: true,
    });
    const { ids, expected } = recordedOnce(150);
    expect(ids).toEqual(expected);
  });

  test("a failure of the service ends it with 1, tells it in a sentence, and what was done before", async () => {
    await writeFile(at("in.ndjson"), lines(...events(100)));
    sandbox.fail({ operation: "events.recordBatch", nth: 2, with: { status: 403 } });
    const { ended, report, stderr } = await run("events", "ingest", "in.ndjson", "--json");
    expect({ ended, report }).toMatchObject({ ended: 1, report: { read: 100, accepted: 50, unknown: 50 } });
    expect(stderr).toMatch(/^touchpoint: .+$/m);
  });

  test("what is wrong is shown, the first ten times", async () => {
    await writeFile(at("in.ndjson"), lines(...Array.from({ length: 12 }, (_, index) => `oops ${index}`)));
    const { ended, stderr } = await run("events", "ingest", "in.ndjson", "--json");
    const shown = stderr.split("\n").filter((line) => line.startsWith("line "));
    expect({ ended, shown: shown.length, first: shown[0] }).toEqual({
      ended: 3,
      shown: 10,
      first: "line 1: not JSON (Unexpected token 'o')",
    });
    expect(stderr).toContain("further ones are not shown; --rejected <path> keeps all\n");
  });

  test("the key appears nowhere, not even when it is refused", async () => {
    await writeFile(at("in.ndjson"), lines(event(1)));
    sandbox.updateKey(key, { revoked: true });
    const { ended, stdout, stderr } = await start("events", "ingest", "in.ndjson").ended;
    expect({ ended, isShown: `${stdout}${stderr}`.includes(key) }).toEqual({ ended: 1, isShown: false });
  });
});

describe("contacts import", () => {
  test("what was exported, changed and added to comes in; the rest is reported", async () => {
    sandbox.seedContacts(3);
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
    expect(sandbox.state.contacts.map(({ title, verified }) => [title, verified])).toEqual([
      ["Owner", true],
      ["Buyer", false],
      ["Buyer", false],
      ["Buyer", false],
    ]);
  });

  test.each([[["--columns", "email,customFields.seats"]], [[]]])(
    "exported %j and imported, numbers and texts stay what they are",
    async (columns) => {
      for (const [at, seats] of [3, "3", true, "true", "a;b"].entries())
        sandbox.addContact({ email: `p${at}@example.com`, customFields: { seats } });
      const before = structuredClone(sandbox.state.contacts);
      await run("contacts", "export", "--out", "people.csv", ...columns, "--json");
      const { report } = await run("contacts", "import", "people.csv", "--json");
      expect(report).toMatchObject({ read: 5, unchanged: 5 });
      expect(sandbox.state.contacts).toEqual(before);
    },
  );

  test("lines that end as on Windows, and blanks around the names of columns", async () => {
    await writeFile(
      at("people.csv"),
      "email, name , verified\r\nada@example.com,Ada,true\r\nbob@example.com,Bob,\r\n",
    );
    const { ended, report, stderr } = await run("contacts", "import", "people.csv", "--json");
    expect({ ended, report }).toMatchObject({ ended: 0, report: { read: 2, created: 2 } });
    expect(sandbox.state.contacts.map(({ name, verified }) => [name, verified])).toEqual([
      ["Ada", true],
      ["Bob", false],
    ]);
    expect(stderr).not.toContain("people.csv");
  });

  test("a column that is nearly the name of a field ends it before anything is sent", async () => {
    await writeFile(at("people.csv"), "email,linked_im\nada@example.com,Ada\n");
    const { ended, stderr, report } = await run("contacts", "import", "people.csv", "--json");
    expect({ ended, report, requests: sandbox.state.requests }).toEqual({
      ended: 2,
      report: undefined,
      requests: [],
    });
    expect(stderr).toMatch(
      /^touchpoint: people\.csv: "linked_im" is not a field of a contact\. To map the columns that are recognized/,
    );
  });

  test.each([
    ["contacts", "import", "For CSV give --format csv"],
    ["events", "ingest", "Events are read from NDJSON only"],
  ])("%s %s: CSV on standard input is wrong usage, and nothing is sent", async (noun, verb, advice) => {
    const child = start(noun, verb, "-", "--json");
    child.process.stdin?.end("\nemail,name\nada@example.com,Ada\n");
    const { ended, stderr } = await child.ended;
    expect([ended, sandbox.state.requests]).toEqual([2, []]);
    expect(stderr).toContain(
      `touchpoint: standard input is not NDJSON: its first line does not start with {. ${advice}\n`,
    );
  });

  test("CSV on standard input is read with --format csv", async () => {
    const child = start("contacts", "import", "-", "--format", "csv", "--json");
    child.process.stdin?.end("email,name\nada@example.com,Ada\n");
    expect(JSON.parse((await child.ended).stdout)).toMatchObject({ read: 1, created: 1 });
  });

  test("a column that is no field is refused before anything is sent", async () => {
    await writeFile(at("people.csv"), "email,city\nada@example.com,Ulm\n");
    const { ended, stderr } = await run("contacts", "import", "people.csv", "--json");
    expect(ended).toBe(2);
    expect(stderr).toContain('people.csv: "city" is not a field of a contact.');
    expect(sandbox.state.counts.requests).toBe(0);
  });

  test("with --add-to-list the contacts are in the list, and a list that is not there ends it", async () => {
    await writeFile(at("people.csv"), "email\nada@example.com\n");
    const client = new Client({ apiKey: key, baseUrl: server.url });
    const { id } = await client.lists.create({ name: "Newsletter" });
    await client.close();
    const add = (list: string) =>
      run("contacts", "import", "people.csv", "--add-to-list", list, "--limits", "off", "--json");
    expect(await add("li_none")).toMatchObject({
      ended: 1,
      stderr: expect.stringContaining("No list with that id in this workspace."),
    });
    expect((await add(id)).report).toMatchObject({ unchanged: 1, rejected: 0 });
    expect(sandbox.state.contacts.map(({ email, listIds }) => [email, listIds])).toEqual([
      ["ada@example.com", [id]],
    ]);
  });

  test("of a file that cannot be read there is no report", async () => {
    expect(await run("contacts", "import", "none.csv", "--json")).toMatchObject({
      ended: 1,
      report: undefined,
      stderr: expect.stringContaining("none.csv: cannot be read"),
    });
  });
});

describe("contacts import --plan", () => {
  test("writes what would become of each row, and changes nothing", async () => {
    sandbox.seedContacts(2);
    await run("contacts", "export", "--out", "people.csv", "--columns", "email,title", "--json");
    const [header, first = "", second] = (await readFile(at("people.csv"), "utf8")).trimEnd().split("\n");
    await writeFile(
      at("people.csv"),
      lines(header, first.replace(/,.*/, ",Owner"), second, "new@example.com,Buyer", "nobody,", "a,b,c"),
    );
    const before = structuredClone(sandbox.state.contacts);
    const { ended, stdout, stderr } = await runTold("contacts", "import", "people.csv", "--plan", "--json");
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
    expect(sandbox.state.contacts).toEqual(before);
    expect(sandbox.state.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("contacts changes", () => {
  const command = ["contacts", "changes", "--snapshot", "snap"];
  const recordsOf = ({ ended, stdout, stderr }: CliEnding) => {
    const records = stdout.split("\n").filter(Boolean);
    return { ended, stderr, records: records.map((record) => JSON.parse(record)) };
  };
  const changes = async (...args: readonly string[]) => recordsOf(await runTold(...command, ...args));

  test("writes everything at first, then what was added, changed and removed", async () => {
    sandbox.seedContacts(3);
    const first = recordsOf(await start(...command).ended);
    expect(first).toMatchObject({
      ended: 0,
      stderr: expect.stringMatching(/3 added, 0 changed, 0 removed\n$/),
    });
    expect(first.records.map(({ kind }) => kind)).toEqual(["added", "added", "added"]);
    const [gone = "", kept = ""] = idsInService();
    sandbox.removeContact(gone);
    const client = new Client({ apiKey: key, baseUrl: server.url });
    await client.contacts.update(kept, { title: "Owner" });
    await client.close();
    sandbox.addContact({ email: "late@example.com" });

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

  test("of another search than the snapshot's it refuses, and without a snapshot it is wrong usage", async () => {
    await changes();
    const { ended, stderr } = await changes("--search", "ada");
    expect({ ended, stderr }).toEqual({ ended: 1, stderr: expect.stringContaining("snap") });
    expect(await runTold("contacts", "changes")).toMatchObject({
      ended: 2,
      stderr: expect.stringContaining("--snapshot <path> is missing"),
    });
  });
});

describe("forecast", () => {
  test("says how long an ingestion takes, and sends nothing", async () => {
    const old = { ...event(0), occurredAt: "2020-01-01T00:00:00Z" };
    await writeFile(at("in.ndjson"), lines(old, ...events(600)));
    expect(await run("forecast", "in.ndjson", "--json")).toEqual({
      ended: 0,
      stderr: "",
      report: { events: 601, durationMs: expect.any(Number), days: 1, tooOld: 1 },
    });
    const { stdout } = await runTold("forecast", "in.ndjson");
    expect(stdout).toMatch(/^events {3}601\ntakes {4}\d+ s\ndays {5}1\ntoo old {2}1\n$/);
    expect(sandbox.state.requests).toEqual([]);
    const keyless = startCli(["forecast", "in.ndjson"], { cwd: folder, env: {} });
    expect(await keyless.ended).toMatchObject({ ended: 0, stdout });
    expect(await run("forecast", "in.csv")).toMatchObject({ ended: 2 });
  });
});

// As docs/guide/command-line.md shows it.
describe("progress and records", () => {
  const clearLine = "\r\u001b[K";

  test("on a terminal one line is redrawn", async () => {
    sandbox.seedContacts(600);
    const typed = spawn(
      "script",
      ["-qec", `${process.execPath} ${program} contacts export --out all.csv`, "/dev/null"],
      {
        cwd: folder,
        env: { ...process.env, TOUCHPOINT_BASE_URL: server.url, TOUCHPOINT_API_KEY: key, TERM: "xterm" },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const shown = await text(typed.stdout);
    expect(shown).toContain(`${clearLine}█`);
    expect(shown).toMatch(/100 % {2}600\/600 {2}[\d,.]+\/s {2}0 s left\r\nfile/);
  });

  test("elsewhere it is plain lines on standard error, and standard output holds the report alone", async () => {
    sandbox.seedContacts(600);
    const { stdout, stderr } = await start("contacts", "export", "--out", "all.csv").ended;
    expect(stderr).toMatch(/^(\d+ % {2}.+\n)+$/);
    expect(stderr).not.toContain(clearLine);
    expect(stdout).toMatch(/^file {6}all\.csv\ncontacts {2}600\n/);
  });

  test("a file that is read shows its share without a count of its records", async () => {
    await writeFile(at("in.ndjson"), lines(...events(200)));
    const { ended, stderr } = await runTold("events", "ingest", "in.ndjson");
    expect(ended).toBe(0);
    expect(stderr).toMatch(/100 % {2}200\/200 {2}[\d,.]+\/s {2}0 s left\n$/);
  });
});

describe("doctor", () => {
  test("a service as documented ends it with 0, whose address may be given", async () => {
    sandbox.seedContacts(3);
    const child = startCli(["doctor", "--base-url", server.url], {
      cwd: folder,
      env: { TOUCHPOINT_BASE_URL: "", TOUCHPOINT_API_KEY: key },
    });
    const { ended, stdout, stderr } = await child.ended;
    expect({ ended, stderr }).toEqual({ ended: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+ requests, all of them GET: nothing differs\.\n/);
  });

  test("a planted difference ends it with 3 and is reported as JSON, without the records", async () => {
    sandbox.seedContacts(3);
    sandbox.fail({ operation: "contacts.list", times: Number.POSITIVE_INFINITY, with: "wrong-types" });
    const { ended, report } = await run("doctor", "--json");
    expect(ended).toBe(3);
    expect(report.differs[0]).toMatch(/^contacts\.list: /);
    expect(JSON.stringify(report)).not.toContain(sandbox.state.contacts[0]?.email);
  });

  test("a refused key ends it with 1, and an address that is none with 2", async () => {
    sandbox.updateKey(key, { revoked: true });
    expect(await run("doctor", "--json")).toMatchObject({ ended: 1, report: undefined });
    expect(await run("doctor", "--base-url", "nowhere")).toMatchObject({ ended: 2, report: undefined });
  });
});

describe("sandbox", () => {
  const firstLine = (child: CliRun) =>
    new Promise<string>((resolve) => child.process.stdout?.once("data", (text: string) => resolve(text)));

  test("serves until it is told to stop", async () => {
    const child = start("sandbox", "--port", "0", "--key", "mine", "--contacts", "7", "--json");
    const { url, ...said } = JSON.parse(await firstLine(child));
    expect(said).toEqual({ key: "mine", contacts: 7 });
    const client = new Client({ apiKey: "mine", baseUrl: url });
    expect((await client.contacts.list()).total).toBe(7);
    await client.close();
    child.process.kill("SIGINT");
    expect(await child.ended).toMatchObject({ ended: 0, stderr: "" });
  });

  test("it loads records, and answers after its latency", async () => {
    const saved = createSandbox();
    saved.addContact({ email: "ada@example.com" });
    const file = join(folder, "fixture.json");
    await saved.save(file);
    const child = start("sandbox", "--port", "0", "--load", file, "--latency", "60000", "--json");
    const { url, contacts } = JSON.parse(await firstLine(child));
    const headers = { authorization: "Bearer sandbox-key", "content-type": "application/json" };
    const answer = fetch(`${url}/api/v1/contacts`, { headers });
    const state = () => fetch(`${url}/_sandbox/state`).then((response) => response.json());
    await expect.poll(state).toMatchObject({ counts: { requests: 1 } });
    await fetch(`${url}/_sandbox/advance`, { method: "POST", headers, body: '{"ms":60000}' });
    expect([contacts, (await answer).status]).toEqual([1, 200]);
    child.process.kill("SIGINT");
    await child.ended;
  });

  test.each([
    [["--limits", "off"], 120],
    [["--limits", "100"], 120],
    [["--limits", "0.5"], 50],
    [[], 100],
  ])("%j lets %i of 120 requests through at once", async (options, passed) => {
    const child = start("sandbox", "--port", "0", "--json", ...options);
    const { url } = JSON.parse(await firstLine(child));
    const headers = { authorization: "Bearer sandbox-key" };
    const answers = Array.from({ length: 120 }, () => fetch(`${url}/api/v1/contacts`, { headers }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(passed);
    child.process.kill("SIGINT");
    await child.ended;
  });
});
