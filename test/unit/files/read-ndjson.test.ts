import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { type InvalidLine, readNdjson } from "touchpoint-sdk/files";
import { describe, expect, test, vi } from "vitest";
import { ConfigurationError, ValidationError } from "../../../src/errors.ts";
import { freeDescriptor, gather, inPieces, scratch } from "./scratch.ts";

const read = (text: string | Uint8Array, options = {}) => gather(readNdjson(inPieces(text, 7), options));

describe("readNdjson", () => {
  test("reads one object per line", async () => {
    expect(await read('{"a":1}\n{"a":2}\n')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("takes a byte order mark, CRLF, blank lines and a last line without newline", async () => {
    expect(await read('\uFEFF{"a":1}\r\n\r\n  \n{"a":2}')).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("an empty source has no records", async () => {
    expect(await read("")).toEqual([]);
  });

  test("characters cut between chunks stay whole, as bytes and as strings", async () => {
    const text = '{"name":"Zoë 🦊 日本"}\n';
    for (const whole of [text, Buffer.from(text)]) {
      expect(await gather(readNdjson(inPieces(whole, 1)))).toEqual([{ name: "Zoë 🦊 日本" }]);
    }
  });

  test("half an emoji at the end of the last string is reported, not dropped", async () => {
    await expect(gather(readNdjson(inPieces('{"a":1}\ud83e', 100)))).rejects.toThrow("line 1: not JSON");
  });

  test("reads a path, a URL and a stream", async () => {
    const { put } = scratch();
    const path = put("events.ndjson", '{"a":1}\n');
    for (const source of [path, pathToFileURL(path), Readable.from([Buffer.from('{"a":1}\n')])]) {
      expect(await gather(readNdjson(source))).toEqual([{ a: 1 }]);
    }
  });

  test("a file longer than one chunk comes out whole", async () => {
    const { put } = scratch();
    const records = Array.from({ length: 20_000 }, (_, index) => ({ index, name: `Zoë ${index}` }));
    const path = put("long.ndjson", records.map((record) => JSON.stringify(record)).join("\n"));
    expect(await gather(readNdjson(path))).toEqual(records);
  });

  test("unpacks by the first bytes, also several packed parts in a row", async () => {
    const { put } = scratch();
    const packed = Buffer.concat([gzipSync('{"a":1}\n'), gzipSync('{"a":2}\n')]);
    const expected = [{ a: 1 }, { a: 2 }];
    expect(await gather(readNdjson(put("events.ndjson.gz", packed)))).toEqual(expected);
    expect(await read(packed)).toEqual(expected);
    expect(await gather(readNdjson(put("named-otherwise.ndjson", packed)))).toEqual(expected);
    const bytewise = async function* () {
      for (const byte of packed) yield Buffer.from([byte]);
    };
    expect(await gather(readNdjson(bytewise()))).toEqual(expected);
  });

  test.each([
    ["it is not gzip", '{"a":1}\n'],
    ["it is not gzip", "{"],
    ["it is empty", ""],
  ])("named .gz, but %s: an error", async (fault, text) => {
    const path = scratch().put("events.ndjson.gz", text);
    const error = `${path}: cannot be unpacked, because ${fault}. If the file is plain text, rename it`;
    await expect(gather(readNdjson(path))).rejects.toThrow(error);
    await expect(gather(readNdjson(createReadStream(path), { name: path }))).rejects.toThrow(error);
  });

  test("a packed file that was cut short is an error, not an end", async () => {
    const { put } = scratch();
    const path = put("cut.ndjson.gz", gzipSync('{"a":1}\n').subarray(0, -9));
    await expect(gather(readNdjson(path))).rejects.toThrow(
      `${path}: cannot be unpacked (unexpected end of file): it is damaged or was cut short. Copy or download it again`,
    );
  });

  test("a file that cannot be opened is a ConfigurationError that names it", async () => {
    const path = scratch().path("none.ndjson");
    const error = await gather(readNdjson(path)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringContaining(`${path}: cannot be read (ENOENT`) });
  });

  test("a source that fails rejects with its own error", async () => {
    const own = new Error("the database went away");
    async function* failing() {
      yield '{"a":1}\n';
      throw own;
    }
    await expect(gather(readNdjson(failing()))).rejects.toBe(own);
    await expect(gather(readNdjson(Readable.from(failing())))).rejects.toBe(own);
  });

  test("a packed source that fails rejects with its own error", async () => {
    const own = new Error("the database went away");
    async function* failing() {
      yield gzipSync('{"a":1}\n').subarray(0, 12);
      throw own;
    }
    await expect(gather(readNdjson(failing()))).rejects.toBe(own);
  });

  test("break closes the source", async () => {
    const closed = vi.fn();
    async function* source() {
      try {
        for (;;) yield '{"a":1}\n';
      } finally {
        closed();
      }
    }
    for await (const _ of readNdjson(source())) break;
    expect(closed).toHaveBeenCalledOnce();
  });

  test.each([false, true])("break has closed the file when it is done (packed: %s)", async (isPacked) => {
    const { put } = scratch();
    const text = Array.from({ length: 20_000 }, () => `{"id":"${randomUUID()}"}\n`).join("");
    const path = put("events", isPacked ? gzipSync(text) : text);
    const before = freeDescriptor();
    for await (const _ of readNdjson(path)) {
      expect(freeDescriptor()).toBeGreaterThan(before);
      break;
    }
    expect(freeDescriptor()).toBe(before);
  });
});

describe("bad lines", () => {
  test("are thrown with the file, the line, the reason and the fix", async () => {
    const { put } = scratch();
    const path = put("events.ndjson", '{"a":1}\n\n{oops}\n');
    const error = await gather(readNdjson(path)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /events\.ndjson line 3: not JSON \(.+\)\. Correct it, or pass onInvalid to skip it$/,
      ),
      issues: [{ path: "line 3", message: expect.stringContaining("not JSON") }],
    });
  });

  test("say nothing of what stands there, which may be personal", async () => {
    const error: unknown = await read('"ann@example.com" oops').catch((thrown: unknown) => thrown);
    const unexpected: unknown = await read("ann@example.com").catch((thrown: unknown) => thrown);
    expect(inspect([error, unexpected])).not.toContain("example");
  });

  test("go to onInvalid, awaited, and reading goes on", async () => {
    const log: unknown[] = [];
    const onInvalid = async ({ error, ...rest }: InvalidLine): Promise<void> => {
      await Promise.resolve();
      log.push({ ...rest, message: error.message });
    };
    const source = inPieces('{"a":1}\n[2]\nnull\n{"a":4}\n', 5);
    for await (const record of readNdjson(source, { onInvalid, name: "stdin" })) log.push(record);
    const reason = "not a JSON object; each line must contain one record, { … }";
    expect(log).toEqual([
      { a: 1 },
      { file: "stdin", line: 2, text: "[2]", message: `stdin line 2: ${reason}` },
      { file: "stdin", line: 3, text: "null", message: `stdin line 3: ${reason}` },
      { a: 4 },
    ]);
  });

  test("what onInvalid throws ends the reading and closes the source", async () => {
    const own = new Error("disk full");
    const closed = vi.fn();
    async function* source() {
      try {
        yield "oops\n";
        yield '{"a":1}\n';
      } finally {
        closed();
      }
    }
    const onInvalid = () => Promise.reject(own);
    await expect(gather(readNdjson(source(), { onInvalid }))).rejects.toBe(own);
    expect(closed).toHaveBeenCalledOnce();
  });

  test("a line over the cap is passed over, and the next one keeps its number", async () => {
    const invalid: unknown[] = [];
    const onInvalid = ({ line, text, error }: InvalidLine) => void invalid.push([line, text, error.message]);
    const source = inPieces(`{"a":1}\n"${"x".repeat(50)}"\n{"a":3}\noops\n`, 4);
    expect(await gather(readNdjson(source, { onInvalid, maxLineBytes: 7 }))).toEqual([{ a: 1 }, { a: 3 }]);
    expect(invalid).toEqual([
      [2, "", "input line 2: longer than maxLineBytes (7); increase it if this line is correct"],
      [4, "oops", expect.stringContaining("input line 4: not JSON")],
    ]);
  });

  test("a line over the cap is never held in memory", async () => {
    const { readLines } = await import("../../../src/runtime/lines.ts");
    const concat = vi.spyOn(Buffer, "concat");
    const chunks = async function* () {
      for (let part = 0; part < 100; part += 1) yield Buffer.from("xxxxxx");
      yield Buffer.from("\n");
    };
    const lines = await gather(readLines(chunks(), { maxLineBytes: 10 }));
    expect(concat).not.toHaveBeenCalled();
    concat.mockRestore();
    expect(lines.flat()).toEqual([{ line: 1, text: "", end: "\n", fault: "too-long" }]);
  });

  test("text in another encoding is refused instead of mangled", async () => {
    await expect(read(Buffer.from('{"a":"Zo\xeb"}', "latin1"))).rejects.toThrow(
      "input line 1: not UTF-8 text; save the file as UTF-8",
    );
  });
});

test.each([0, -1, 1.5, Number.NaN])("maxLineBytes %s is refused at the call", (maxLineBytes) => {
  expect(() => readNdjson("events.ndjson", { maxLineBytes })).toThrow(
    `maxLineBytes must be a whole number of at least 1, got ${maxLineBytes}`,
  );
});

test("a source that is nothing readable, or gives neither bytes nor strings, is refused", async () => {
  // Types rule both out; a caller in JavaScript has none.
  expect(() => readNdjson(42 as never)).toThrow("the source must be a path");
  await expect(gather(readNdjson(Readable.from([{ a: 1 }])))).rejects.toThrow(
    "the source yielded object instead of bytes or strings",
  );
});

test("a byte order mark in the middle is no part of a line, as in files that were joined", async () => {
  expect(await read('\uFEFF{"a":1}\n\uFEFF{"a":2}\n')).toEqual([{ a: 1 }, { a: 2 }]);
});

test("a comma after each record is named with the command that removes it", async () => {
  await expect(read('{"a":1},\n{"a":2},\n')).rejects.toThrow(
    "input line 1: a comma follows the record. Remove it from each line: sed 's/,$//' input > records.ndjson",
  );
});
