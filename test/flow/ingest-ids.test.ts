import { expect, test } from "vitest";
import { type Checkpoint, type CheckpointStore, Client, type RejectedEvent } from "../../src/index.ts";
import { markLine } from "../../src/runtime/source-line.ts";
import { type AutomationOptions, createSandbox } from "../../src/sandbox/index.ts";

const service = (automations: readonly AutomationOptions[] = []) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, automations });
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

test("the id comes from the line, not from the item's index, so that a refused item before it does not change the id", async () => {
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
  expect(rejected).toMatchObject([{ index: 1, line: 12, email: "a@example.com", error: expect.any(String) }]);
});

test("with a total, the remaining time of a stream is known", async () => {
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

const schemes = [
  ["content", undefined, "source:a", { source: "a" }],
  ["source:a", { source: "a" }, "source:b", { source: "b" }],
  ["source:a", { source: "a" }, "function", (_: unknown, index: number) => `n${index}`],
  ["function", () => "1", "function", () => "2"],
] as const;

test.each(schemes)(
  "a run with ids from %s is not continued with others: %j, %s",
  async (from, before, to, now) => {
    const { client, sandbox } = service();
    let saved: Checkpoint | undefined;
    const checkpoint: CheckpointStore = {
      load: async () => saved,
      save: async (state) => {
        saved = state;
      },
    };
    const events = [login(), { ...login(), name: "logout" }];
    await client.events.ingest(events, { checkpoint, idFrom: before });
    const sent = sandbox.state.requests.length;
    const last = saved?.ids?.last;
    expect([saved?.ids?.from, typeof last]).toEqual([from, "string"]);
    const refused = client.events.ingest(events, { checkpoint, idFrom: now });
    await expect(refused).rejects.toMatchObject({ name: "ConfigurationError" });
    await expect(refused).rejects.toThrow(
      `belongs to a run that took event ids from ${from}, but this run takes them from ${to}: the id of item 1 was ${last} and would now be `,
    );
    expect(sandbox.state.requests).toHaveLength(sent);
    expect(await client.events.ingest(events, { checkpoint, idFrom: before })).toMatchObject({ skipped: 2 });
  },
);

test("an item that is no event, and that idFrom cannot read, does not end the run", async () => {
  const { client } = service();
  let saved: Checkpoint | undefined;
  const checkpoint: CheckpointStore = {
    load: async () => saved,
    save: async (state) => {
      saved = state;
    },
  };
  const idFrom = ({ contact }: { contact: { email?: string | undefined } }) => String(contact.email);
  // As a file may hold it.
  const events = [login(), {} as ReturnType<typeof login>];
  for (const skipped of [0, 2])
    expect(await client.events.ingest(events, { checkpoint, idFrom })).toMatchObject({ read: 2, skipped });
  expect(saved?.ids).toEqual({ from: "function", last: null });
});

test("onOutcome gets every recorded event, and the report sums the started runs", async () => {
  const { client } = service([{ name: "welcome", startsOn: "login" }]);
  const old = new Date(Date.now() - 80 * 3_600_000).toISOString();
  const events = [
    markLine({ ...login(), id: "1" }, 3),
    { ...login(), name: "", id: "2" },
    { ...login(), contact: { email: "nobody@example.com" }, createContact: false, id: "3" },
    { ...login(), occurredAt: old, id: "4" },
    { ...login(), id: "1" },
  ];
  const told: unknown[] = [];
  const report = await client.events.ingest(events, {
    onOutcome: async ({ event: { id }, line, index, email, outcome }) =>
      void told.push([id, line, index, email, outcome]),
  });
  expect(told).toEqual([
    ["1", 3, 0, "a@example.com", "PROCESSED"],
    ["3", undefined, 2, "nobody@example.com", "NO_CONTACT"],
    ["4", undefined, 3, "a@example.com", "TOO_OLD"],
    ["1", undefined, 4, "a@example.com", "PROCESSED"],
  ]);
  expect(report).toMatchObject({ accepted: 3, duplicates: 1, rejected: 1, tooOld: 1, noContact: 1 });
  expect(report.runsStarted).toBe(1);
});
