import { expect, test } from "vitest";
import { readContacts, readCsv, readNdjson } from "../../src/files/index.ts";
import { Client } from "../../src/index.ts";
import { contentHash } from "../../src/runtime/content-hash.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const bytes = async function* (text: string) {
  yield Buffer.from(text);
};

const files = [
  ["NDJSON", () => readNdjson(bytes('{"email":"ada@example.com"}\n\n{"email":"none"}\n'))],
  ["CSV", () => readCsv(bytes("email,name\nada@example.com,Ada\nnone,Nobody\n"))],
] as const;

test.each(files)("a refused row of %s is reported with its line in the file", async (_name, read) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  const told: unknown[] = [];
  // The rows are what the file holds; the import checks each.
  await client.contacts.import(read() as AsyncIterable<{ email: string }>, {
    onRejected: ({ index, line }) => void told.push({ index, line }),
  });
  expect(told).toEqual([{ index: 1, line: 3 }]);
  await client.close();
});

const bad = (lines: number[]) => ({ onInvalid: ({ line }: { line: number }) => void lines.push(line) });
const stopped = { version: 1, done: 2, last: contentHash({ email: "b@example.com" }) } as const;
const readers = [
  [
    "NDJSON",
    (lines: number[]) =>
      readNdjson(bytes('no\n{"email":"a@example.com"}\nno\n{"email":"b@example.com"}\nno\n'), bad(lines)),
  ],
  [
    "contacts",
    (lines: number[]) =>
      readContacts(bytes("email\na@example.com,x\na@example.com\nx,y\nb@example.com\nz,z\n"), {
        format: "csv",
        ...bad(lines),
      }),
  ],
] as const;

test.each(readers)(
  "a resumed run does not report bad %s before the checkpoint again",
  async (_name, read) => {
    const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
    const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
    const first: number[] = [];
    for await (const _ of read(first));
    const again: number[] = [];
    const checkpoint = { load: async () => stopped, save: async () => undefined };
    // As above.
    const rows = read(again) as AsyncIterable<{ email: string }>;
    expect(await client.contacts.import(rows, { checkpoint })).toMatchObject({ skipped: 2 });
    expect(first).toHaveLength(3);
    expect(again).toEqual(first.slice(2));
    await client.close();
  },
);
