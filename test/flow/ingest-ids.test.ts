import { expect, test } from "vitest";
import { Client, type RejectedEvent } from "../../src/index.ts";
import { markLine } from "../../src/runtime/source-line.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false } as const;
  return { sandbox, client: new Client(given) };
};

const login = () => ({ name: "login", contact: { email: "a@example.com" } });

test("equal events without an id are one, unless the source's name and the line make their ids", async () => {
  const { client } = service();
  expect(await client.events.ingest([login(), login()])).toMatchObject({ accepted: 1, duplicates: 1 });
  const idFrom = { source: "logins-2026-11.ndjson" };
  expect(await client.events.ingest([login(), login()], { idFrom })).toMatchObject({ accepted: 2 });
  expect(await client.events.ingest([login(), login()], { idFrom })).toMatchObject({
    accepted: 0,
    duplicates: 2,
  });
  const other = { source: "logins-2026-12.ndjson" };
  expect(await client.events.ingest([login(), login()], { idFrom: other })).toMatchObject({ accepted: 2 });
});

test("the line makes the id, so that a blank line more or less in front of it makes no other event", async () => {
  const { client } = service();
  const idFrom = { source: "a" };
  await client.events.ingest([markLine(login(), 7)], { idFrom });
  expect(
    await client.events.ingest([{ ...login(), name: "" }, markLine(login(), 7)], { idFrom }),
  ).toMatchObject({
    duplicates: 1,
  });
});

test("a refused event is reported with its line", async () => {
  const { client } = service();
  const rejected: RejectedEvent[] = [];
  const events = [login(), markLine({ ...login(), name: "" }, 12)];
  await client.events.ingest(events, { onRejected: (one) => void rejected.push(one) });
  expect(rejected).toMatchObject([{ index: 1, line: 12 }]);
});

test("a given total makes the time left of a stream known", async () => {
  const { client } = service();
  const told: (number | undefined)[] = [];
  const stream = (async function* () {
    for (let at = 0; at < 3; at += 1) yield { ...login(), id: String(at) };
  })();
  await client.events.ingest(stream, { total: 3, onProgress: ({ etaMs }) => void told.push(etaMs) });
  expect(told.at(-1)).toBe(0);
});

test.each([{ idFrom: {} }, { idFrom: { source: "" } }, { total: -1 }])("%o is refused", async (options) => {
  const { client } = service();
  // As JavaScript may.
  await expect(client.events.ingest([], options as never)).rejects.toThrow(/idFrom must|total must/);
});
