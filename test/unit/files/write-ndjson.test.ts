import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { PassThrough, Writable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ConfigurationError, ValidationError } from "../../../src/errors.ts";
import { betweenSync } from "../../support/between-sync.ts";
import { freeDescriptor, scratch } from "./scratch.ts";

const long = "x".repeat(70_000);

const circular = (): object => {
  const record: Record<string, unknown> = {};
  record.self = { record };
  return record;
};

/** Lets everything run that needs no more input. */
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

describe("writeNdjson", () => {
  test("writes one line per record and tells how much", async () => {
    const { path, text, names } = scratch();
    expect(await writeNdjson(path("out.ndjson"), [{ name: "Zoë" }, { a: 2 }])).toEqual({
      records: 2,
      bytes: 24,
    });
    expect(text("out.ndjson")).toBe('{"name":"Zoë"}\n{"a":2}\n');
    expect(names()).toEqual(["out.ndjson"]);
  });

  test("without records the file is empty", async () => {
    const { path, text } = scratch();
    expect(await writeNdjson(path("out.ndjson"), [])).toEqual({ records: 0, bytes: 0 });
    expect(text("out.ndjson")).toBe("");
  });

  test("packs by the name, and counts bytes before packing", async () => {
    const { path } = scratch();
    const records = [{ a: long }, { a: 2 }];
    const { bytes } = await writeNdjson(path("out.ndjson.gz"), records);
    const text = gunzipSync(readFileSync(path("out.ndjson.gz"))).toString();
    expect([text.length, text.split("\n").length]).toEqual([bytes, 3]);
  });

  test("the file appears under its name only when it is complete", async () => {
    const { path, names, put, text } = scratch();
    put("out.ndjson", "old\n");
    async function* records() {
      yield { a: long };
      expect(text("out.ndjson")).toBe("old\n");
      expect(names()).toEqual(["out.ndjson", expect.stringMatching(/^out\.ndjson\.[0-9a-f]{8}\.tmp$/)]);
      yield { a: 2 };
    }
    await writeNdjson(path("out.ndjson"), records());
    expect([text("out.ndjson").length, names()]).toEqual([70_017, ["out.ndjson"]]);
  });

  test("the file is synced before it gets its name, the directory after", async () => {
    const { path, names } = scratch();
    const seen: string[][] = [];
    betweenSync(() => (_fd, callback) => {
      seen.push(names());
      callback(null);
    });
    await writeNdjson(path("out"), [{ a: 1 }]);
    expect(seen).toEqual([[expect.stringMatching(/^out\..*\.tmp$/)], ["out"]]);
  });

  test.each([
    ["replaced", {}],
    ["packed", { gzip: true }],
  ])("no file stays open, whether the source ends or fails: %s", async (_, options) => {
    const { path } = scratch();
    async function* failing() {
      yield { a: long };
      throw new Error("the export stopped");
    }
    const before = freeDescriptor();
    await writeNdjson(path("out"), [{ a: 1 }], options);
    await writeNdjson(path("out"), failing(), options).catch(() => {});
    expect(freeDescriptor()).toBe(before);
  });

  test("a source that fails rejects with its own error and leaves the old file and nothing else", async () => {
    const { path, names, put, text } = scratch();
    put("out.ndjson", "old\n");
    const own = new Error("the export stopped");
    async function* records() {
      yield { a: long };
      throw own;
    }
    await expect(writeNdjson(path("out.ndjson"), records())).rejects.toBe(own);
    expect([text("out.ndjson"), names()]).toEqual(["old\n", ["out.ndjson"]]);
  });

  test("a packed file whose source fails leaves nothing", async () => {
    const { path, names } = scratch();
    const own = new Error("the export stopped");
    async function* records() {
      yield { a: long };
      throw own;
    }
    await expect(writeNdjson(path("out.ndjson.gz"), records())).rejects.toBe(own);
    expect(names()).toEqual([]);
  });

  test("keeps the permissions of a file it replaces, and follows a link to it", async () => {
    const { path, put, text } = scratch();
    chmodSync(put("real.ndjson", "old\n"), 0o600);
    symlinkSync("real.ndjson", path("link.ndjson"));
    await writeNdjson(path("link.ndjson"), [{ a: 1 }]);
    expect(text("real.ndjson")).toBe('{"a":1}\n');
    expect(statSync(path("real.ndjson")).mode & 0o777).toBe(0o600);
  });

  test("keeps the permissions in what waits for the columns too: nobody else reads it", async () => {
    const { path, names, put } = scratch();
    chmodSync(put("out.csv", "old\n"), 0o600);
    const seen: string[] = [];
    function* records() {
      for (let number = 0; number < 1_200; number += 1) yield { number, a: long };
      for (const name of names())
        seen.push(`${name.slice(-9)} ${(statSync(path(name)).mode & 0o777).toString(8)}`);
    }
    await writeCsv(path("out.csv"), records());
    expect(seen).toHaveLength(3);
    expect(seen.filter((line) => !line.endsWith(" 600"))).toEqual([]);
  });

  test("a pipe is written, not replaced by a file", async () => {
    const { path, names } = scratch();
    execFileSync("mkfifo", [path("pipe")]);
    const reader = openSync(path("pipe"), constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    await writeNdjson(path("pipe"), [{ a: 1 }]);
    const buffer = Buffer.alloc(100);
    expect(buffer.toString("utf8", 0, readSync(reader, buffer))).toBe('{"a":1}\n');
    expect([names(), statSync(path("pipe")).isFIFO()]).toEqual([["pipe"], true]);
  });

  test("a file that cannot be written is a ConfigurationError that names it, and no record is asked for", async () => {
    const { path } = scratch();
    mkdirSync(path("directory"));
    const next = vi.fn();
    const records = { [Symbol.asyncIterator]: () => ({ next }) };
    for (const name of ["none/out.ndjson", "directory"]) {
      const error = await writeNdjson(path(name), records).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({
        message: expect.stringContaining(`${path(name)} cannot be written: E`),
      });
    }
    expect(next).not.toHaveBeenCalled();
  });

  test.each([
    ["a draft", [{ a: 1 }]],
    ["what waits for the columns", Array.from({ length: 1_200 }, () => ({ a: long }))],
  ])(
    "a full disk is a ConfigurationError that names the file, and nothing is left behind: %s",
    async (_, records) => {
      const { path, names } = scratch();
      const handle = await open(path("."));
      const writeFile = vi.spyOn(Object.getPrototypeOf(handle), "writeFile");
      onTestFinished(() => writeFile.mockRestore());
      await handle.close();
      writeFile.mockRejectedValueOnce(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
      const error = await writeCsv(path("out.csv"), records).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({
        message: expect.stringMatching(
          /out\.csv(\.\w+\.rows\.tmp)? cannot be written: ENOSPC: no space left$/,
        ),
      });
      expect(names()).toEqual([]);
    },
  );

  test.each([
    ["a function", () => {}, "is not an object"],
    ["an array", [1], "is not an object"],
    ["a bigint inside", { a: 1n }, "cannot be written as JSON"],
    [
      "an object that refers to itself",
      circular(),
      "cannot be written as JSON (Converting circular structure",
    ],
  ])("a record that has no line is a ValidationError with its number: %s", async (_, record, reason) => {
    const { path, names } = scratch();
    const error = await writeNdjson(path("out"), [{}, record]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ message: expect.stringContaining(`record 2 ${reason}`) });
    expect(names()).toEqual([]);
  });
});

describe("a stream", () => {
  test("is written and left open", async () => {
    const stream = new PassThrough();
    await writeNdjson(stream, [{ a: 1 }]);
    expect([
      stream.read().toString(),
      stream.writableEnded,
      stream.listenerCount("error"),
      stream.listenerCount("close"),
    ]).toEqual(['{"a":1}\n', false, 0, 0]);
  });

  test("that is slow holds the source back", async () => {
    const log: string[] = [];
    const release: (() => void)[] = [];
    let isSlow = true;
    const stream = new Writable({
      write: (_chunk, _encoding, done) => {
        log.push("write");
        if (isSlow) release.push(done);
        else done();
      },
    });
    async function* records() {
      for (const number of [1, 2]) {
        log.push(`record ${number}`);
        yield { a: long };
      }
    }
    const written = writeNdjson(stream, records());
    await turnOfTheLoop();
    expect(log).toEqual(["record 1", "write"]);
    isSlow = false;
    release[0]?.();
    await written;
    expect(log).toEqual(["record 1", "write", "record 2", "write"]);
  });

  test("that fails rejects with its own error and closes the source", async () => {
    const own = new Error("broken pipe");
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(own) });
    const closed = vi.fn();
    function* records() {
      try {
        for (;;) yield { a: long };
      } finally {
        closed();
      }
    }
    await expect(writeNdjson(stream, records())).rejects.toBe(own);
    expect(closed).toHaveBeenCalledOnce();
  });

  test("that fails between two blocks rejects with its own error", async () => {
    const own = new Error("broken pipe");
    const stream = new PassThrough().resume();
    async function* records() {
      yield { a: long };
      stream.destroy(own);
      await turnOfTheLoop();
      yield { a: long };
    }
    await expect(writeNdjson(stream, records())).rejects.toBe(own);
  });

  test("that fails behind gzip while the source is busy rejects with its own error at the next block", async () => {
    const own = new Error("broken pipe");
    let hold = (_fail: () => void): void => {};
    const held = new Promise<() => void>((resolve) => {
      hold = resolve;
    });
    const stream = new Writable({ write: (_chunk, _encoding, done) => hold(() => done(own)) });
    async function* records() {
      // Random enough for the packer to pass something on, but not so much that it waits for the stream.
      yield { a: randomBytes(20_000).toString("hex") + long };
      const fail = await held;
      fail();
      // Long enough for a rejection that nobody holds to be noticed.
      for (let turn = 0; turn < 50; turn += 1) await turnOfTheLoop();
      yield { a: long };
    }
    await expect(writeNdjson(stream, records(), { gzip: true })).rejects.toBe(own);
  });

  test("that fails behind a packer at the very end rejects with its own error", async () => {
    const own = new Error("broken pipe");
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(own) });
    await expect(writeNdjson(stream, [{ a: 1 }], { gzip: true })).rejects.toBe(own);
  });

  test("that is closed while it holds a block ends the wait", async () => {
    const stream = new Writable({ write: () => queueMicrotask(() => stream.destroy()) });
    await expect(writeNdjson(stream, [{ a: 1 }])).rejects.toThrow("the stream was closed before everything");
  });
});

test("what onWritten rejects with ends the writing", async () => {
  const own = new Error("the cursor cannot be saved");
  const onWritten = () => Promise.reject(own);
  await expect(writeNdjson(scratch().path("out"), [{ a: 1 }], { onWritten })).rejects.toBe(own);
});
