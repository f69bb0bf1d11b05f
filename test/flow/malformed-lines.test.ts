import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openRecords } from "../../src/cli/rejections.ts";
import { readNdjson } from "../../src/files/index.ts";
import { Client, type EventInput } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { scratch } from "../unit/files/scratch.ts";

const event = (at: number) =>
  JSON.stringify({ name: "order.placed", contact: { email: `p${at}@x.io` }, properties: { at } });

/** Malformed lines at the start, between records, many in a row, and at the end. */
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => [
    ...(at % 7 === 0 ? ["oops"] : []),
    event(at),
    ...(at % 50 === 3 ? Array.from({ length: 20 }, (_, n) => `{"broken":${n}`) : []),
  ]).flat();

const scene = () => {
  const { path } = scratch();
  const file = path("events.ndjson");
  writeFileSync(file, `${[...linesOf(230), "[1]"].join("\n")}\n`);
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const options = {
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  } as const;
  const told = new Set<number>();
  /** As the command line reads the file, and as a program does. */
  const readers = {
    "the command line": () => openRecords<EventInput>(file, readNdjson).records,
    "a program": () => readNdjson<EventInput>(file, { onInvalid: ({ line }) => void told.add(line) }),
  };
  const ingest = (reader: keyof typeof readers) =>
    new Client(options).events.ingest(readers[reader](), {
      checkpoint: path("events.checkpoint"),
      batchSize: 20,
      concurrency: 2,
      onRejected: ({ line = 0 }) => void told.add(line),
    });
  return { sandbox, ingest, told };
};

test.each([
  ["the command line", "a program"],
  ["a program", "the command line"],
] as const)("an ingestion with malformed lines that %s began is continued by %s", async (first, second) => {
  const { sandbox, ingest, told } = scene();
  const fault = sandbox.fail({ operation: "events.recordBatch", nth: 6, times: 99, with: { status: 401 } });
  await expect(ingest(first)).rejects.toMatchObject({ status: 401 });
  fault.remove();
  const report = await ingest(second);
  expect(report.skipped).toBeGreaterThan(0);
  expect(sandbox.state.events).toHaveLength(230);
  const malformed = linesOf(230).flatMap((line, at) => (line.includes("order.placed") ? [] : [at + 1]));
  expect([...told].sort((a, b) => a - b)).toEqual([...malformed, linesOf(230).length + 1]);
});

test("a run that goes on says that an earlier one refused records", async () => {
  const { sandbox, ingest } = scene();
  const fault = sandbox.fail({ operation: "events.recordBatch", nth: 6, times: 99, with: { status: 401 } });
  await expect(ingest("the command line")).rejects.toMatchObject({ status: 401 });
  fault.remove();
  expect(await ingest("a program")).toMatchObject({ rejected: 0, rejectedBefore: true });
});
