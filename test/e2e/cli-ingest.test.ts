import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { cliScene, event, events, key, lines, sorted } from "../support/cli-scene.ts";

const scene = cliScene();
const { at, isThere, start, runText, run } = scene;

const recordedOnce = (count: number) => ({
  ids: sorted(scene.sandbox.state.events.map(({ callerId = "" }) => callerId)),
  expected: sorted(events(count).map(({ id }) => id)),
});

describe("events ingest", () => {
  // One batch is answered, so there is a checkpoint; the third never is, so the run is there to be stopped.
  const stopOnTheWay = async (signal: NodeJS.Signals) => {
    const stall = scene.sandbox.fail({ operation: "events.recordBatch", nth: 3, with: "stall" });
    const child = start("events", "ingest", "in.ndjson", ...options);
    await isThere("checkpoint");
    child.process.kill(signal);
    const ending = await child.ended;
    stall.remove();
    return ending;
  };
  const options = ["--checkpoint", "checkpoint", "--rejected", "rejected.ndjson", "--json"];

  test("a killed ingestion that is restarted records every event once and keeps each refusal once", async () => {
    const all = events(200);
    const bad = { id: "bad", name: "service.x", contact: { email: "a@example.com" } };
    await writeFile(
      at("in.ndjson"),
      lines(...all.slice(0, 60), "oops", ...all.slice(60, 120), bad, ...all.slice(120), "[1]"),
    );
    expect(await stopOnTheWay("SIGKILL")).toMatchObject({ ended: "SIGKILL", stdout: "" });
    expect(scene.sandbox.state.events.length).toBeLessThan(200);

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
          error: 'name: must not start with "service.": such events are recorded by the service itself',
          rejected: bad,
        },
        {
          index: 201,
          line: 203,
          error: "not a JSON object; each line must contain one record, { … }",
          rejected: "[1]",
        },
      )
        .trim()
        .split("\n")
        .sort(),
    );
  });

  test("reads standard input, and then the corrected file of refused events", async () => {
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
    expect(scene.sandbox.state.events.map(({ callerId }) => callerId)).toEqual(["e0", "bad"]);
    expect(JSON.parse(await readFile(at("rejected.ndjson"), "utf8"))).toMatchObject({
      line: 3,
      rejected: "oops",
    });
  });

  test("refuses to write rejected events to the file that it reads", async () => {
    await writeFile(at("in.ndjson"), lines(event(0)));
    const { ended } = await run("events", "ingest", "in.ndjson", "--rejected", "./in.ndjson");
    expect([ended, await readFile(at("in.ndjson"), "utf8")]).toEqual([2, lines(event(0))]);
  });

  test("SIGINT ends the ingestion with 130, and the next run continues", async () => {
    await writeFile(at("in.ndjson"), lines(...events(150)));
    expect(await stopOnTheWay("SIGINT")).toMatchObject({
      ended: 130,
      stdout: "",
      stderr: expect.stringMatching(
        /touchpoint: stopped\. Run the same command again to continue where it stopped\.\n$/,
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

  test("a failure of the service ends with 1, one sentence and the report so far", async () => {
    await writeFile(at("in.ndjson"), lines(...events(100)));
    scene.sandbox.fail({ operation: "events.recordBatch", nth: 2, with: { status: 403 } });
    const { ended, report, stderr } = await run("events", "ingest", "in.ndjson", "--json");
    expect({ ended, report }).toMatchObject({ ended: 1, report: { read: 100, accepted: 50, unknown: 50 } });
    expect(stderr).toMatch(/^touchpoint: .+$/m);
  });

  test("shows the first ten faults of a file", async () => {
    await writeFile(at("in.ndjson"), lines(...Array.from({ length: 12 }, (_, index) => `oops ${index}`)));
    const { ended, stderr } = await run("events", "ingest", "in.ndjson", "--json");
    const shown = stderr.split("\n").filter((line) => line.startsWith("line "));
    expect({ ended, shown: shown.length, first: shown[0] }).toEqual({
      ended: 3,
      shown: 10,
      first: "line 1: not JSON (Unexpected token 'o')",
    });
    expect(stderr).toContain(
      "More rejected records are not shown. To save all of them, use --rejected <path>.\n",
    );
  });

  test("the output never contains the key, not even when the service refuses it", async () => {
    await writeFile(at("in.ndjson"), lines(event(1)));
    scene.sandbox.updateKey(key, { revoked: true });
    const { ended, stdout, stderr } = await start("events", "ingest", "in.ndjson").ended;
    expect({ ended, isShown: `${stdout}${stderr}`.includes(key) }).toEqual({ ended: 1, isShown: false });
  });
});

describe("forecast", () => {
  test("reports how long an ingestion takes, and sends nothing", async () => {
    const old = { ...event(0), occurredAt: "2020-01-01T00:00:00Z" };
    await writeFile(at("in.ndjson"), lines(old, ...events(600)));
    expect(await run("forecast", "in.ndjson", "--json")).toEqual({
      ended: 0,
      stderr: "",
      report: { events: 601, durationMs: expect.any(Number), days: 1, tooOld: 1 },
    });
    const { stdout } = await runText("forecast", "in.ndjson");
    expect(stdout).toMatch(/^events {3}601\ntakes {4}\d+ s\ndays {5}1\ntoo old {2}1\n$/);
    expect(scene.sandbox.state.requests).toEqual([]);
    const keyless = startCli(["forecast", "in.ndjson"], { cwd: scene.folder, env: {} });
    expect(await keyless.ended).toMatchObject({ ended: 0, stdout });
    expect(await run("forecast", "in.csv")).toMatchObject({ ended: 2 });
  });

  test("CSV in a file of another kind gets advice that this command can follow", async () => {
    await writeFile(at("in.ndjson"), "name,email\norder.placed,ada@example.com\n");
    const { ended, stderr } = await runText("events", "ingest", "in.ndjson");
    expect([ended, stderr]).toEqual([2, expect.stringContaining("not NDJSON: convert it to NDJSON or, if")]);
  });

  test("a field that the document does not name is refused: a timestamp would be lost", async () => {
    await writeFile(at("in.ndjson"), lines({ ...event(1), timestamp: "2020-01-31T09:00:00Z" }, event(2)));
    const { ended, stderr } = await runText("events", "ingest", "in.ndjson");
    expect([ended, stderr]).toEqual([
      3,
      expect.stringContaining("timestamp: the service's document has no such field"),
    ]);
    expect(recordedOnce(0).ids).toEqual(["e2"]);
  });
});
