import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { readCsv, readNdjson, type WriteCsvOptions, writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expect, test } from "vitest";
import { ConfigurationError, ValidationError } from "../../../src/errors.ts";
import { gather, scratch } from "./scratch.ts";

const people = Array.from({ length: 23 }, (_, n) => ({
  id: `c${n}`,
  note: "x".repeat(30_000),
  extra: { n },
}));

/** A list of five a page, that fails before a page. */
const listOf = (
  records: readonly { readonly id: string }[],
  failsAt = Number.POSITIVE_INFINITY,
  query: object = {},
) => {
  const asked: (string | undefined)[] = [];
  async function* pages({ cursor }: { readonly cursor?: string | undefined } = {}) {
    asked.push(cursor);
    for (let at = Number(cursor ?? 0); at < records.length; at += 5) {
      if (at >= failsAt) throw new Error("the service is away");
      yield { cursor: String(Math.min(at + 5, records.length)), data: records.slice(at, at + 5) };
    }
  }
  async function* all() {
    for await (const { data } of pages()) yield* data;
  }
  const list = { request: { operation: "contacts.list", query }, pages, [Symbol.asyncIterator]: all };
  return { list, asked };
};

/** A promise, and what resolves it. */
const door = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

const forms = [
  ["NDJSON", "out.ndjson", writeNdjson, {}, readNdjson],
  ["CSV", "out.csv", writeCsv, { columns: ["id", "extra.n", "note"] }, readCsv],
  ["CSV of all fields", "out.csv", writeCsv, {}, readCsv],
] as const;

describe.each(forms)("an export with a checkpoint: %s", (_, name, write, options, read) => {
  test("writes the same file when it stops before any page and starts again", async () => {
    const { path, names, text } = scratch();
    await write(path(`whole-${name}`), people, options);
    for (let failsAt = 0; failsAt < people.length; failsAt += 5) {
      const given = { ...options, checkpoint: path("checkpoint") };
      await expect(write(path(name), listOf(people, failsAt).list, given)).rejects.toThrow(
        "the service is away",
      );
      expect(names()).not.toContain(name);
      const { list, asked } = listOf(people);
      const written = await write(path(name), list, given);
      expect([asked.length, written.records]).toEqual([1, people.length]);
      expect(written.resumed).toBe(failsAt);
      expect(text(name)).toBe(text(`whole-${name}`));
      expect(names()).toEqual([name, `whole-${name}`]);
      rmSync(path(name));
    }
    expect((await gather(read(path(`whole-${name}`)))).length).toBe(people.length);
  });
});

describe("an export with a checkpoint", () => {
  const stopped = async (failsAt = 10) => {
    const place = scratch();
    const options = { checkpoint: place.path("checkpoint"), columns: ["id", "note"] };
    await writeCsv(place.path("out.csv"), listOf(people, failsAt).list, options).catch(() => {});
    return { ...place, options, out: place.path("out.csv") };
  };

  test("cuts away what the draft has beyond the checkpoint", async () => {
    const { out, options, path, text } = await stopped();
    writeFileSync(path("out.csv.partial"), `${text("out.csv.partial")}c10,"half`);
    await writeCsv(out, listOf(people).list, options);
    expect((await gather(readCsv(out))).map(({ id }) => id)).toEqual(people.map(({ id }) => id));
  });

  test("killed between its last two steps, it is finished without a request", async () => {
    const { out, options, path, text, put } = await stopped();
    const { records } = JSON.parse(text("checkpoint"));
    const complete = { ...JSON.parse(text("checkpoint")), isComplete: true };
    put("checkpoint", JSON.stringify(complete));
    const { list, asked } = listOf(people);
    expect(await writeCsv(out, list, options)).toMatchObject({ records, resumed: records });
    put("checkpoint", JSON.stringify(complete));
    expect(await writeCsv(out, list, options)).toMatchObject({ records, resumed: records });
    expect([asked, readdirSync(path("."))]).toEqual([[], ["out.csv"]]);
  });

  test("of all fields, stopped while the table is written, reads no page again", async () => {
    const { path, names, put, text } = scratch();
    const [out, options] = [path("out.csv"), { checkpoint: path("checkpoint") }];
    const { list } = listOf(people);
    async function* pages(from: { readonly cursor?: string | undefined }) {
      yield* list.pages(from);
      mkdirSync(out);
    }
    const first = { ...list, pages };
    await expect(writeCsv(out, first, options)).rejects.toThrow("out.csv cannot be written: EISDIR");
    rmSync(out, { recursive: true });
    expect(statSync(path("out.csv.records.partial")).mode & 0o777).toBe(0o600);
    const complete = text("checkpoint");
    const again = listOf(people);
    // The first is killed after all, before it can delete the checkpoint.
    for (const _ of ["killed", "done"]) {
      put("checkpoint", complete);
      const written = await writeCsv(out, again.list, options);
      const bytes = text("out.csv").length;
      expect(written).toEqual({ records: people.length, resumed: people.length, bytes });
      expect([again.asked, names()]).toEqual([[], ["out.csv"]]);
    }
    expect((await gather(readCsv(out))).map(({ id }) => id)).toEqual(people.map(({ id }) => id));
  });

  test.each([
    ["another query", { query: { search: "ada" } }, "belongs to an export with a different query"],
    ["other columns", { columns: ["id"] }, "belongs to an export with a different query"],
    [
      "a checkpoint cut short",
      { checkpoint: '{"version":1,' },
      "is cut short or is not JSON. To start over, delete the checkpoint",
    ],
    [
      "something else",
      { checkpoint: '{"version":1,"done":4}' },
      "is damaged or is not a checkpoint. Check whether another program writes to it",
    ],
    [
      "a newer version",
      { checkpoint: '{"version":2}' },
      "was saved by a newer touchpoint-sdk (version 2 of checkpoints)",
    ],
    ["a draft that is gone", { draft: "" }, "is missing or shorter than checkpoint"],
  ])("does not go on with %s, and loses nothing", async (_, change, message) => {
    const { out, options, put, names, text } = await stopped();
    if ("checkpoint" in change) put("checkpoint", change.checkpoint);
    if ("draft" in change) put("out.csv.partial", change.draft);
    const before = [text("checkpoint"), text("out.csv.partial")];
    const columns = "columns" in change ? change.columns : options.columns;
    const { list, asked } = listOf(people, undefined, "query" in change ? change.query : {});
    const error = await writeCsv(out, list, { ...options, columns }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    expect([asked, names(), text("checkpoint"), text("out.csv.partial")]).toEqual([
      [],
      ["checkpoint", "out.csv.partial"],
      ...before,
    ]);
  });

  test("of two at once the second finishes, and the first ends without a change to the file", async () => {
    const { path, names } = scratch();
    const [out, options] = [path("out.ndjson"), { checkpoint: path("checkpoint") }];
    const { list } = listOf(people);
    async function* pages(from: { readonly cursor?: string | undefined }) {
      for await (const page of list.pages(from)) {
        if (page.cursor === "15") await writeNdjson(out, list, options);
        yield page;
      }
    }
    const first = { ...list, pages };
    await expect(writeNdjson(out, first, options)).rejects.toThrow(
      `${out}.partial: another run is writing this file; give each run its own path`,
    );
    expect((await gather(readNdjson(out))).map(({ id }) => id)).toEqual(people.map(({ id }) => id));
    expect(names()).toEqual(["out.ndjson"]);
  });

  test.each([
    ["begun", false],
    ["resumed", true],
  ])("of two %s while the other runs, the earlier one puts nothing in place", async (_, isResumed) => {
    const { path, names } = scratch();
    const [out, options] = [path("out.ndjson"), { checkpoint: path("checkpoint") }];
    if (isResumed) await writeNdjson(out, listOf(people, 5).list, options).catch(() => undefined);
    const { list } = listOf(people);
    const gate = door();
    let later: Promise<unknown> | undefined;
    /** The later run begins while the earlier one waits for the end of the list, and waits for that one's result. */
    async function* earlierPages(from: { readonly cursor?: string | undefined }) {
      const begun = door();
      async function* laterPages(after: { readonly cursor?: string | undefined }) {
        begun.open();
        await gate.opened;
        yield* list.pages(after);
      }
      if (!isResumed) yield* list.pages(from);
      later = writeNdjson(
        out,
        Object.assign({}, list, { pages: laterPages }),
        isResumed ? options : { checkpoint: path("other") },
      );
      await begun.opened;
      if (isResumed) yield* list.pages(from);
    }
    const earlier = writeNdjson(out, Object.assign({}, list, { pages: earlierPages }), options);
    await expect(earlier).rejects.toThrow(`${out}.partial: another run is writing this file`);
    expect(names()).not.toContain("out.ndjson");
    gate.open();
    await later;
    expect((await gather(readNdjson(out))).map(({ id }) => id)).toEqual(people.map(({ id }) => id));
  });

  test("may ask for pages of another size when it goes on", async () => {
    const { out, options } = await stopped();
    const { list } = listOf(people, undefined, { limit: 7 });
    expect(await writeCsv(out, list, options)).toMatchObject({ records: people.length });
    expect((await gather(readCsv(out))).map(({ id }) => id)).toEqual(people.map(({ id }) => id));
  });

  test("goes on after an empty page, and finishes an export of nothing", async () => {
    const { path, text } = scratch();
    const options = { checkpoint: path("checkpoint") };
    const whole = listOf(people).list;
    async function* emptyFirst() {
      yield { cursor: "0", data: [] };
      throw new Error("the service is away");
    }
    const empty = { ...whole, pages: emptyFirst };
    await expect(writeNdjson(path("out"), empty, options)).rejects.toThrow("the service is away");
    expect(await writeNdjson(path("out"), whole, options)).toMatchObject({ records: people.length });
    await writeNdjson(path("none"), listOf([]).list, options);
    expect(text("none")).toBe("");
  });

  test("leaves no empty draft when the first page is refused", async () => {
    const { names } = await stopped(0);
    expect(names()).toEqual([]);
  });

  test("keeps the permissions and the link it replaces, and a draft as private", async () => {
    const { path, put } = scratch();
    mkdirSync(path("real"));
    await chmod(put("real/out.csv", "old"), 0o600);
    symlinkSync("real/out.csv", path("out.csv"));
    const options = { checkpoint: path("checkpoint"), columns: ["id"] };
    await writeCsv(path("out.csv"), listOf(people, 10).list, options).catch(() => {});
    expect(statSync(path("real/out.csv.partial")).mode & 0o777).toBe(0o600);
    await writeCsv(path("out.csv"), listOf(people).list, options);
    expect([statSync(path("real/out.csv")).mode & 0o777, readdirSync(path("real"))]).toEqual([
      0o600,
      ["out.csv"],
    ]);
  });

  const refused: [
    options: WriteCsvOptions,
    records: AsyncIterable<object>,
    error: unknown,
    message: string,
  ][] = [
    [{ gzip: true }, listOf(people).list, ConfigurationError, "checkpoint does not work with gzip"],
    [
      {},
      listOf(people).list[Symbol.asyncIterator](),
      ValidationError,
      "with checkpoint, the records must be a list that the client returned",
    ],
  ];
  test.each(refused)("is refused where it cannot be kept: %o", async (options, records, kind, message) => {
    const { path, names } = scratch();
    const writing = writeCsv(path("out.csv"), records, { ...options, checkpoint: path("checkpoint") });
    const error = await writing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    expect(names()).toEqual([]);
  });

  test.each([
    ["the file itself", writeCsv, ""],
    ["the file itself", writeNdjson, ""],
    ["its draft", writeNdjson, ".partial"],
    ["the draft of its records", writeCsv, ".records.partial"],
  ])("is refused where it is %s: %o", async (_, write, ending) => {
    const { path, names } = scratch();
    const target = path("out.csv");
    const writing = write(target, listOf(people).list, { checkpoint: target + ending });
    await expect(writing).rejects.toThrow(`${target}: checkpoint must be a different file`);
    expect(names()).toEqual([]);
  });
});
