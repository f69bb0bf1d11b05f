import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { chmod } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openDraft, removeOldDrafts, writeFileAtomically } from "../../../src/runtime/atomic-file.ts";
import { freeDescriptor, scratch } from "../files/scratch.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("a file written as a whole", () => {
  test("has the new content, and nothing lies beside it", async () => {
    const { put, text, names } = scratch();
    await writeFileAtomically(put("state", "old"), "new");
    expect([text("state"), names()]).toEqual(["new", ["state"]]);
  });

  test("is made with the permissions that are asked for", async () => {
    const { path, text, names } = scratch();
    await writeFileAtomically(path("state"), "new", 0o600);
    expect([text("state"), modeOf(path("state")), names()]).toEqual(["new", "600", ["state"]]);
  });

  test("loses the drafts that killed runs left, and no file of another name or of this process", async () => {
    const { put, path, names } = scratch();
    const others = ["state.0a1b2c3d.tmp.old", "state2.0a1b2c3d.tmp", "state.tmp", "state"];
    for (const name of ["state.0a1b2c3d.tmp", ...others]) utimesSync(put(name, "half"), 1, 1);
    put("state.ffffffff.tmp", "half");
    await removeOldDrafts(path("state"));
    expect(names().sort()).toEqual([...others, "state.ffffffff.tmp"].sort());
    await removeOldDrafts(path("none/state"));
  });

  test("is as private as the file it replaces, and so is its draft, whatever the umask is", async () => {
    const { put, path, names } = scratch();
    for (const mode of [0o600, 0o666]) {
      await chmod(put("state", "old"), mode);
      const draft = await openDraft(path("state"), "state");
      const isMorePrivate = (statSync(draft.path).mode & 0o777 & ~mode) === 0;
      await draft.commit();
      expect([isMorePrivate, modeOf(path("state")), names()]).toEqual([true, mode.toString(8), ["state"]]);
    }
  });

  test.each([
    ["to a file", true],
    ["to a file that does not exist yet", false],
  ])("keeps a link %s a link, and writes beside its target", async (_, isThere) => {
    const { path, put } = scratch();
    mkdirSync(path("real"));
    if (isThere) put("real/state", "old");
    symlinkSync("hop", path("link"));
    symlinkSync("real/state", path("hop"));
    const draft = await openDraft(path("link"), "link");
    expect(dirname(draft.path)).toBe(path("real"));
    await draft.append("new");
    await draft.commit();
    expect([readlinkSync(path("link")), readFileSync(path("real/state"), "utf8")]).toEqual(["hop", "new"]);
    expect(readdirSync(path("real"))).toEqual(["state"]);
  });

  test("goes where its path led when it was begun, whatever folder the program is in by then", async () => {
    const { path, text } = scratch();
    mkdirSync(path("elsewhere"));
    const before = process.cwd();
    const cwd = vi.spyOn(process, "cwd");
    onTestFinished(() => cwd.mockRestore());
    cwd.mockReturnValue(path("."));
    const draft = await openDraft("state", "state");
    cwd.mockReturnValue(path("elsewhere"));
    await draft.append("new");
    await draft.commit();
    cwd.mockReturnValue(before);
    expect(text("state")).toBe("new");
  });

  test("discarded leaves the old file, and nothing open or beside it", async () => {
    const { put, text, names } = scratch();
    const before = freeDescriptor();
    const draft = await openDraft(put("state", "old"), "state");
    await draft.append("half");
    await draft.discard();
    expect([text("state"), names(), freeDescriptor()]).toEqual(["old", ["state"], before]);
  });

  test("in a folder that is missing is refused with the system's reason", async () => {
    const { path } = scratch();
    await expect(writeFileAtomically(path("none/state"), "new")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

// Containers on one volume all have the process id 1, and a copy of the module of their own.
test("writers in many processes with the same id never take each other's draft", async () => {
  const { path, names } = scratch();
  const copies = await Promise.all(
    Array.from({ length: 4 }, async () => {
      vi.resetModules();
      return import("../../../src/runtime/atomic-file.ts");
    }),
  );
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(copies.map((copy, at) => copy.writeFileAtomically(path("state"), `{"of":${at}}\n`)));
    expect(readFileSync(path("state"), "utf8")).toMatch(/^\{"of":[0-3]\}\n$/);
  }
  expect(names()).toEqual(["state"]);
});

describe("a draft of a fixed name", () => {
  test("is kept when it is discarded, resumed after the bytes that count, and gone when it is committed", async () => {
    const { path, names, text } = scratch();
    const first = await openDraft(path("out"), "out", { isKept: true });
    await first.append("one two");
    await first.discard();
    expect([names(), text("out.partial")]).toEqual([["out.partial"], "one two"]);
    const second = await openDraft(path("out"), "out", { isKept: true, keepBytes: 4 });
    await second.append("three");
    await second.commit();
    expect([names(), text("out")]).toEqual([["out"], "one three"]);
  });

  test("begun anew does not write through what lies there", async () => {
    const { path, put, text } = scratch();
    put("victim", "kept");
    symlinkSync(path("victim"), path("out.partial"));
    const draft = await openDraft(path("out"), "out", { isKept: true });
    await draft.append("new");
    await draft.commit();
    expect([text("victim"), text("out")]).toEqual(["kept", "new"]);
  });

  test("is not resumed through a link", async () => {
    const { path } = scratch();
    writeFileSync(path("victim"), "kept");
    symlinkSync(path("victim"), path("out.partial"));
    const resumed = openDraft(path("out"), "out", { isKept: true, keepBytes: 0 });
    await expect(resumed).rejects.toMatchObject({ cause: { code: "ELOOP" } });
    expect(readFileSync(path("victim"), "utf8")).toBe("kept");
  });

  test("lies beside the file that a link names", async () => {
    const { path, put } = scratch();
    mkdirSync(path("real"));
    put("real/out", "old");
    symlinkSync("real/out", path("out"));
    const draft = await openDraft(path("out"), "out", { isKept: true });
    await draft.discard();
    expect(basename(draft.path)).toBe("out.partial");
    expect(readdirSync(path("real"))).toEqual(["out", "out.partial"]);
  });
});
