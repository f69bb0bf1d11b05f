import { expect, test } from "vitest";
import { readCsv, readNdjson } from "../../src/files/index.ts";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const bytes = async function* (text: string) {
  yield Buffer.from(text);
};

const files = [
  ["NDJSON", () => readNdjson(bytes('{"email":"ada@example.com"}\n\n{"email":"none"}\n'))],
  ["CSV", () => readCsv(bytes("email,name\nada@example.com,Ada\nnone,Nobody\n"))],
] as const;

test.each(files)("a refused row of %s is told with its line in the file", async (_name, read) => {
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
