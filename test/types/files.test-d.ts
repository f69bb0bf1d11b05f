import { Readable, Writable } from "node:stream";
import { readCsv, readNdjson, type Written, writeCsv, writeNdjson } from "touchpoint-sdk/files";
import { describe, expectTypeOf, test } from "vitest";

interface Row {
  email: string;
}
declare const rows: AsyncIterable<Row>;

describe("reading", () => {
  test("records come as what the caller says they are", () => {
    expectTypeOf(readCsv("a.csv")).toEqualTypeOf<AsyncGenerator<Record<string, unknown>>>();
    expectTypeOf(readCsv<Row>(Readable.from([""]))).toEqualTypeOf<AsyncGenerator<Row>>();
    expectTypeOf(readNdjson("a.ndjson")).toEqualTypeOf<AsyncGenerator<Record<string, unknown>>>();
    expectTypeOf(readNdjson<Row>(new URL("file:///a"))).toEqualTypeOf<AsyncGenerator<Row>>();
    // @ts-expect-error a record has fields
    readCsv<string>("a.csv");
    // @ts-expect-error a record has fields
    readNdjson<string>("a.ndjson");
  });

  test("a source is a file or a stream", () => {
    // @ts-expect-error no descriptor
    readCsv(0);
    // @ts-expect-error nothing to read from
    readNdjson(new Writable());
    // @ts-expect-error bytes or text
    readNdjson(rows);
  });

  test("options are those of the format", () => {
    readCsv("a.csv", { delimiter: ";", columns: { Mail: "email", Note: false }, emptyCells: "string" });
    readCsv("a.csv", { cast: (cell, { column }) => (column === "seats" ? Number(cell) : cell) });
    readNdjson("a.ndjson", {
      onInvalid: ({ line }) => void expectTypeOf(line).toEqualTypeOf<number>(),
    });
    // @ts-expect-error no such choice
    readCsv("a.csv", { emptyCells: "skip" });
    // @ts-expect-error a column is renamed or left out
    readCsv("a.csv", { columns: { Mail: true } });
    // @ts-expect-error lines have no delimiter
    readNdjson("a.ndjson", { delimiter: ";" });
    // @ts-expect-error bytes
    readNdjson("a.ndjson", { maxLineBytes: "1 MB" });
  });
});

describe("writing", () => {
  test("records of any kind go to a file or a stream", () => {
    expectTypeOf(writeCsv("a.csv", rows)).resolves.toEqualTypeOf<Written>();
    expectTypeOf(writeNdjson("a.ndjson", [{ a: 1 }])).resolves.toEqualTypeOf<Written>();
    writeCsv(new Writable(), [{ email: "ada@example.com" }], { columns: { email: "Mail" } });
    writeNdjson(new URL("file:///a"), rows, { gzip: true });
    // @ts-expect-error nothing to write to
    writeCsv(new Readable(), rows);
    // @ts-expect-error the target comes first
    writeNdjson(rows, "a.ndjson");
    // @ts-expect-error records have fields
    writeCsv("a.csv", ["ada@example.com"]);
    // @ts-expect-error many records
    writeNdjson("a.ndjson", { email: "ada@example.com" });
  });

  test("options are those of the format", () => {
    // @ts-expect-error paths, not one path
    writeCsv("a.csv", rows, { columns: "email" });
    // @ts-expect-error yes or no
    writeCsv("a.csv", rows, { escapeFormulas: "always" });
    // @ts-expect-error lines have no columns
    writeNdjson("a.ndjson", rows, { columns: ["email"] });
  });
});
