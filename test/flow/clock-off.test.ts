import { expect, test } from "vitest";
import { Client, type RejectedEvent } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const event = { id: "e-1", name: "order.placed", contact: { id: "c-1" }, occurredAt: new Date(now) };
const refusal = { error: "occurredAt must not be in the future" };

/** A client on a machine whose clock is so far ahead of the service's. */
const clientAhead = (aheadMs: number) => {
  const headers = { date: new Date(now - aheadMs).toUTCString() };
  const fetch = async (url: string): Promise<Response> =>
    url.endsWith("/batch")
      ? Response.json({ accepted: 0, rejected: 1, results: [{ status: 400, ...refusal }] }, { headers })
      : Response.json(refusal, { status: 400, headers });
  const options = { apiKey: "key", baseUrl: "https://crm.test", fetch, limits: false } as const;
  return new Client(options, { clock: new FakeClock(now) });
};

const sendAt = new Date(now + 1_000);
const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  "events.record": (client) => client.events.record(event),
  "emails.schedule": (client) =>
    client.emails.schedule({ to: "ada@x.io", subject: "Hi", text: "Hi", sendAt }),
  "emails.scheduled.update": (client) => client.emails.scheduled.update("email-1", { sendAt }),
};

test.each(Object.keys(calls))("a 400 of %s says by how much this machine's clock is off", async (name) => {
  const hintAt = async (aheadMs: number) => {
    const error: unknown = await calls[name]?.(clientAhead(aheadMs)).catch((thrown: unknown) => thrown);
    return Object(error).hint;
  };
  expect(await hintAt(3_000)).toBe(
    "this machine's clock is 3 s ahead of the service's clock, so times taken from it are in the future for the service: correct this machine's clock",
  );
  expect(await hintAt(-90_000)).toBe(
    "this machine's clock is 90 s behind the service's clock, so times taken from it are in the past for the service: correct this machine's clock",
  );
  expect(await hintAt(1_000)).toBeUndefined();
});

test("a refused event of a batch also reports it, but only if the clock is off", async () => {
  const errorsAt = async (aheadMs: number) => {
    const client = clientAhead(aheadMs);
    const rejected: RejectedEvent[] = [];
    await client.events.ingest([event], { onRejected: (one) => void rejected.push(one) });
    const { results } = await client.events.recordBatch([event]);
    return [rejected[0]?.error, ...results.map((result) => "error" in result && result.error)];
  };
  const hint =
    "this machine's clock is 3 s ahead of the service's clock, so times taken from it are in the future for the service";
  const expected = `${refusal.error} (${hint}: correct this machine's clock)`;
  expect(await errorsAt(3_000)).toEqual([expected, expected]);
  expect(await errorsAt(0)).toEqual([refusal.error, refusal.error]);
});
