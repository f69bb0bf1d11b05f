import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { readCsv, readNdjson } from "../../src/files/index.ts";
import { cliScene, key, sorted } from "../support/cli-scene.ts";

const scene = cliScene();
const { at, isThere, start, runText, run, idsInService } = scene;

const exportedIds = async (name: string): Promise<unknown[]> => {
  const ids: unknown[] = [];
  const records = name.includes(".csv") ? readCsv(at(name)) : readNdjson(at(name));
  for await (const { id } of records) ids.push(id);
  return ids;
};

describe("contacts export", () => {
  const contacts = 1_000;
  // A page near the end never comes, so that the run can be stopped while it waits.
  const stallAt = 4;

  const checkpoint = ["--checkpoint", "export.checkpoint"];

  const stopHalfway = async (out: string, signal: NodeJS.Signals) => {
    scene.sandbox.seedContacts(contacts);
    const stall = scene.sandbox.fail({ operation: "contacts.list", nth: stallAt, with: "stall" });
    const child = start("contacts", "export", "--out", out, ...checkpoint);
    await isThere("export.checkpoint");
    child.process.kill(signal);
    const ending = await child.ended;
    stall.remove();
    return ending;
  };

  test.each(["all.csv", "all.ndjson"])(
    "%s: a killed export that is resumed has every contact once",
    async (out) => {
      const { ended } = await stopHalfway(out, "SIGKILL");
      expect(ended).toBe("SIGKILL");
      expect(existsSync(at(out))).toBe(false);
      // The world goes on meanwhile: some of those exported leave, and others come.
      const [first, ...others] = idsInService();
      scene.sandbox.removeContact(first ?? "");
      scene.sandbox.addContact({ email: "late@example.com" });
      const requestsBefore = scene.sandbox.state.requests.length;

      const { report } = await run("contacts", "export", "--out", out, ...checkpoint, "--json");

      expect(report).toMatchObject({ file: out, contacts: contacts + 1 });
      expect(report.resumed).toBeGreaterThan(0);
      const late = scene.sandbox.state.contacts.at(-1)?.id;
      expect(sorted(await exportedIds(out))).toEqual(sorted([first, ...others, late]));
      expect(Number(scene.sandbox.state.requests[requestsBefore]?.query.skip)).toBeGreaterThan(0);
      expect(await readdir(scene.folder)).toEqual([out]);
    },
  );

  test("a resumed export of one column keeps all pages before the one under way", async () => {
    scene.sandbox.seedContacts(600);
    const stall = scene.sandbox.fail({ operation: "contacts.list", nth: 3, with: "stall" });
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

  test("SIGINT ends the export with 130 and says how to continue", async () => {
    const { ended, stderr } = await stopHalfway("all.csv", "SIGINT");
    expect(ended).toBe(130);
    expect(stderr).toMatch(
      /touchpoint: stopped\. Run the same command again to continue where it stopped\.\n$/,
    );
    await run("contacts", "export", "--out", "all.csv", ...checkpoint, "--json");
    expect(sorted(await exportedIds("all.csv"))).toEqual(sorted(idsInService()));
  });

  test("an export without --checkpoint starts over", async () => {
    await stopHalfway("all.csv", "SIGKILL");
    const { report } = await run("contacts", "export", "--out", "all.csv", "--json");
    expect(report).toMatchObject({ contacts, resumed: 0 });
    expect(sorted(await exportedIds("all.csv"))).toEqual(sorted(idsInService()));
  });

  test.each([
    ["-", "--checkpoint does not work with standard output"],
    ["all.csv.gz", "--checkpoint does not work with a compressed file"],
  ])("--out %s with --checkpoint is wrong usage", async (out, message) => {
    const { ended, stderr } = await runText("contacts", "export", "--out", out, ...checkpoint);
    expect([ended, stderr.startsWith(`touchpoint: ${message}`)]).toEqual([2, true]);
  });

  test("an export with another query refuses the checkpoint", async () => {
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
        /^touchpoint: checkpoint .*export\.checkpoint belongs to an export with a different query, .*\. To start over, delete the checkpoint\n$/,
      ),
    });
  });

  test("writes to standard output with a chosen delimiter, and ends with 141 when its reader leaves", async () => {
    scene.sandbox.seedContacts(300);
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

  test("the reader of help or progress may close its pipe", async () => {
    scene.sandbox.seedContacts(300);
    const help = start("--help");
    help.process.stdout?.destroy();
    expect(await help.ended).toMatchObject({ ended: 141, stderr: "" });
    const silent = start("contacts", "export", "--out", "all.csv", "--json");
    silent.process.stderr?.destroy();
    expect(await silent.ended).toMatchObject({ ended: 0 });
    expect(await exportedIds("all.csv")).toHaveLength(300);
  });

  test("an unknown column sends no request, and a refused key leaves no file", async () => {
    const { ended, stderr } = await run(
      "contacts",
      "export",
      "--out",
      "all.csv",
      "--columns",
      "email,linked_in",
    );
    expect({ ended, requests: scene.sandbox.state.requests }).toEqual({ ended: 2, requests: [] });
    expect(stderr).toContain(
      '--columns: "linked_in" is not a field of a contact (did you mean "linkedIn"?).',
    );
    scene.sandbox.updateKey(key, { revoked: true });
    expect(await run("contacts", "export", "--out", "all.csv")).toMatchObject({ ended: 1 });
    expect(await readdir(scene.folder)).toEqual([]);
  });

  test("--search and --columns choose what a compressed export holds", async () => {
    scene.sandbox.seedContacts(60);
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
    const found = scene.sandbox.state.contacts.filter(({ email }) => email.includes("ada"));
    expect(rows).toEqual(found.map(({ email, title }) => ({ email, title })));
    expect(rows.length).toBeGreaterThan(0);
  });
});
