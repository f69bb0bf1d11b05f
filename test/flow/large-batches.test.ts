import { expect, test } from "vitest";
import { Client, type EventInput } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** A service that counts all events of a batch at once, and so never accepts more than its limit of one second. */
const strictService = (clock: FakeClock, max: number) => {
  const sizes: number[] = [];
  let spent: readonly { readonly at: number; readonly count: number }[] = [];
  const fetch = async (_url: string, init: { readonly body?: string }): Promise<Response> => {
    const { events }: { events: EventInput[] } = JSON.parse(String(init.body));
    sizes.push(events.length);
    spent = spent.filter(({ at }) => at > clock.now() - 1_000);
    const used = spent.reduce((sum, { count }) => sum + count, 0);
    if (used + events.length > max)
      return Response.json({ error: "Too many events" }, { status: 429, headers: { "retry-after": "1" } });
    spent = [...spent, { at: clock.now(), count: events.length }];
    const results = events.map(({ id, name }) => ({
      ...{ status: 202, id, name },
      ...{ outcome: "PROCESSED", runsStarted: 0 },
    }));
    return Response.json({ accepted: events.length, rejected: 0, results }, { status: 207 });
  };
  return { sizes, fetch };
};

const some = (count: number): EventInput[] =>
  Array.from({ length: count }, (_, at) => ({ name: `n${at}`, contact: { email: "ada@example.com" } }));

test("a service that counts a batch at once gets batches that fit its limit, after one refusal", async () => {
  const clock = new FakeClock();
  const { sizes, fetch } = strictService(clock, 50);
  const client = new Client({ baseUrl: "https://service.test", apiKey: "key", fetch }, { clock });
  const events = some(100);
  const first = await clock.until(client.events.recordBatch(events));
  expect(first).toMatchObject({ accepted: 100, rejected: 0 });
  expect(first.results.map(({ index }) => index)).toEqual(events.map((_, at) => at));
  const second = await clock.until(client.events.recordBatch(some(250)));
  expect(second.accepted).toBe(250);
  expect(sizes).toEqual([100, 50, 50, 50, 50, 50, 50, 50]);
  await client.close();
});
