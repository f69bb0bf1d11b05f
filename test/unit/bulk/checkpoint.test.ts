import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConfigurationError } from "../../../src/errors.ts";
import { type Checkpoint, checkpoints, readCheckpoint } from "../../../src/runtime/checkpoint.ts";
import { stateFile } from "../../../src/runtime/saved-state.ts";

const at = (done: number): Checkpoint => ({ version: 1, done, last: `item-${done}` });

describe("a checkpoint in a file", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "checkpoint-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test("gives back what was saved, and leaves no other file", async () => {
    const path = join(directory, "run.json");
    const store = stateFile(path, checkpoints);
    expect(await store.load()).toBeUndefined();
    await store.save(at(1));
    await store.save(at(2));
    expect([await store.load(), readdirSync(directory)]).toEqual([at(2), ["run.json"]]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("of two runs that begin one at the same time, one is refused at its next save", async () => {
    const path = join(directory, "run.json");
    const runs = [1, 2].map(() => stateFile(path, checkpoints));
    await Promise.allSettled(runs.map((run, index) => run.save(at(index))));
    const endings: PromiseSettledResult<void>[] = [];
    for (const [index, run] of runs.entries())
      endings.push(...(await Promise.allSettled([run.save(at(index + 5))])));
    const failed = endings.flatMap((ending) => (ending.status === "rejected" ? [ending.reason] : []));
    expect(failed).toEqual([expect.any(ConfigurationError)]);
    expect(failed[0].message).toBe(
      `checkpoint ${path} was written by another run meanwhile: wait until that run has ended, or give each run a checkpoint of its own`,
    );
    expect([at(5), at(6)]).toContainEqual(await stateFile(path, checkpoints).load());
    expect(readdirSync(directory)).toEqual(["run.json"]);
  });

  test("of two runs that continue one, the first to save goes on, also after it was deleted", async () => {
    const path = join(directory, "run.json");
    await stateFile(path, checkpoints).save(at(1));
    const [one, other] = [stateFile(path, checkpoints), stateFile(path, checkpoints)];
    for (const run of [one, other]) await run.load();
    for (const done of [2, 3]) await one.save(at(done));
    await expect(other.save(at(9))).rejects.toBeInstanceOf(ConfigurationError);
    await one.remove();
    await one.save(at(4));
    expect(await stateFile(path, checkpoints).load()).toEqual(at(4));
  });

  test("a relative path stays where it led when the run began", async () => {
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(directory);
    const store = stateFile("run.json", checkpoints);
    cwd.mockRestore();
    await store.save(at(1));
    expect([await store.load(), readdirSync(directory)]).toEqual([at(1), ["run.json"]]);
  });

  test("a checkpoint that cannot replace its target leaves no other file", async () => {
    const folder = join(directory, "folder");
    mkdirSync(folder);
    await expect(stateFile(folder, checkpoints).save(at(1))).rejects.toBeInstanceOf(ConfigurationError);
    expect(readdirSync(directory)).toEqual(["folder"]);
  });

  test("a truncated checkpoint is an error, and does not start the run again", async () => {
    const path = join(directory, "run.json");
    await stateFile(path, checkpoints).save(at(1));
    writeFileSync(path, readFileSync(path).subarray(0, 12));
    await expect(stateFile(path, checkpoints).load()).rejects.toThrow(
      `checkpoint ${path} is cut short or is not JSON`,
    );
    writeFileSync(path, "null");
    await expect(stateFile(path, checkpoints).load()).rejects.toThrow(
      `checkpoint ${path} is damaged or is not a checkpoint`,
    );
  });

  test("a folder that is missing or a path that is a folder is named", async () => {
    const missing = join(directory, "no", "run.json");
    await expect(stateFile(missing, checkpoints).save(at(1))).rejects.toThrow(
      `checkpoint ${missing} cannot be written`,
    );
    const folder = join(directory, "folder");
    mkdirSync(folder);
    await expect(stateFile(folder, checkpoints).load()).rejects.toThrow(
      `checkpoint ${folder} cannot be read`,
    );
  });
});

describe("readCheckpoint", () => {
  test.each([
    [1],
    ["x"],
    [[]],
    [{}],
    [{ version: 2, done: 1, last: "a" }],
    [{ version: 1, done: -1, last: "a" }],
    [{ version: 1, done: 1.5, last: "a" }],
    [{ version: 1, done: "1", last: "a" }],
    [{ version: 1, done: 1 }],
    [{ version: 1, done: 1, last: "a", ids: {} }],
    [{ version: 1, done: 1, last: "a", ids: { from: "content", last: 1 } }],
  ])("refuses %o", (state) => {
    expect(() => readCheckpoint(state)).toThrow(ConfigurationError);
  });

  test("one of a newer version says so, by its name", () => {
    const newer = { version: 2, done: 1, last: "a" };
    expect(() => readCheckpoint(newer, "checkpoint run.json")).toThrow(
      "checkpoint run.json was saved by a newer touchpoint-sdk (version 2 of checkpoints). Update touchpoint-sdk here to use it. To start over, delete",
    );
  });

  test("nothing stored is no checkpoint", () => {
    expect([readCheckpoint(undefined), readCheckpoint(null)]).toEqual([undefined, undefined]);
  });
});
