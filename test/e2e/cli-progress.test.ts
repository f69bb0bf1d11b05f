import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { program } from "../support/cli.ts";
import { cliScene, events, key, lines } from "../support/cli-scene.ts";

const scene = cliScene();
const { at, start, runText } = scene;

// As docs/guide/command-line.md shows it.
describe("progress and records", () => {
  const clearLine = "\r\u001b[K";

  test("redraws one line on a terminal", async () => {
    scene.sandbox.seedContacts(600);
    const typed = spawn(
      "script",
      ["-qec", `${process.execPath} ${program} contacts export --out all.csv`, "/dev/null"],
      {
        cwd: scene.folder,
        env: {
          ...process.env,
          TOUCHPOINT_BASE_URL: scene.server.url,
          TOUCHPOINT_API_KEY: key,
          TERM: "xterm",
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const shown = await text(typed.stdout);
    expect(shown).toContain(`${clearLine}█`);
    expect(shown).toMatch(/100 % {2}600\/600 {2}[\d,.]+\/s {2}0 s left\r\nfile/);
  });

  test("writes plain lines to standard error elsewhere, and only the report to standard output", async () => {
    scene.sandbox.seedContacts(600);
    const { stdout, stderr } = await start("contacts", "export", "--out", "all.csv").ended;
    expect(stderr).toMatch(/^(\d+ % {2}.+\n)+$/);
    expect(stderr).not.toContain(clearLine);
    expect(stdout).toMatch(/^file {6}all\.csv\ncontacts {2}600\n/);
  });

  test("shows the share of an input file without a count of its records", async () => {
    await writeFile(at("in.ndjson"), lines(...events(200)));
    const { ended, stderr } = await runText("events", "ingest", "in.ndjson");
    expect(ended).toBe(0);
    expect(stderr).toMatch(/100 % {2}200\/200 {2}[\d,.]+\/s {2}0 s left\n$/);
  });
});
