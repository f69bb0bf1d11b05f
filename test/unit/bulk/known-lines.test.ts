import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { snapshotLine } from "../../../src/bulk/contact-snapshot.ts";
import { KnownLines } from "../../../src/bulk/known-lines.ts";

const lineOf = (id: string, fields: Record<string, string>, offset: number) => {
  const text = snapshotLine({ id, fields }).slice(0, -1);
  return { text, offset, length: Buffer.byteLength(text) };
};

test("the fields of a contact are those of its last line, from the file where that is", async () => {
  const folder = await mkdtemp(join(tmpdir(), "known-lines-"));
  const lines = new KnownLines();
  try {
    const old = lineOf("ü", { name: "old" }, 7);
    const other = lineOf("b", { name: "other" }, 7 + old.length + 1);
    const taken = lineOf("ü", { name: "new", title: "T" }, 0);
    await writeFile(join(folder, "snapshot"), `header\n${old.text}\n${other.text}\n`);
    await writeFile(join(folder, "draft"), `${taken.text}\n`);
    lines.open("snapshot", await open(join(folder, "snapshot")));
    lines.open("draft", await open(join(folder, "draft")));
    lines.add("ü", old, "snapshot");
    lines.add("b", other, "snapshot");
    expect(lines.fieldsOf({ id: "ü", fields: { name: "changed" } })).toEqual({ name: "old" });
    lines.add("ü", taken, "draft");
    lines.add("ü", taken, "draft");
    expect(lines.fieldsOf({ id: "ü", fields: {} })).toEqual({ name: "new", title: "T" });
    expect(lines.fieldsOf({ id: "b", fields: { name: "other" } })).toEqual({ name: "other" });
    expect(lines.fieldsOf({ id: "c", fields: {} })).toBeUndefined();
    expect([lines.size, lines.draftCount, [...lines.idsOnlyInSnapshot()], lines.has("c")]).toEqual([
      2,
      1,
      ["b"],
      false,
    ]);
  } finally {
    await lines.close();
    await rm(folder, { recursive: true });
  }
});
