import { expect, test } from "vitest";
import { served } from "../resources/served.ts";

const basic = "20300131T110000+02";
const sent = "2030-01-31T09:00:00.000Z";
const email = { to: "ada@example.com", subject: "Hi", text: "Hello" };
const contact = { email: "ada@example.com" };
const event = { name: "x", id: "1", contact };

test("a time given in basic ISO 8601 is sent in the extended form, and the caller's object stays", async () => {
  const { client, requests } = served([
    [201, { id: "s1" }],
    [200, { id: "s1" }],
    [202, { id: "1" }],
    [207, { results: [{ status: 202 }, { status: 202 }] }],
  ]);
  const given = { ...event, occurredAt: basic };
  await client.emails.schedule({ ...email, sendAt: basic });
  await client.emails.scheduled.update("s1", { sendAt: basic });
  await client.events.record(given);
  await client.events.recordBatch([given, { ...event, id: "2" }]);
  expect(requests.map(({ body }) => body)).toEqual([
    { ...email, sendAt: sent },
    { sendAt: sent },
    { ...event, occurredAt: sent },
    {
      events: [
        { ...event, occurredAt: sent },
        { ...event, id: "2" },
      ],
    },
  ]);
  expect(given.occurredAt).toBe(basic);
});

test("an object that cannot be copied is refused, and its time stays", async () => {
  const { client, requests } = served([]);
  const given = new (class {
    sendAt = basic;
    toDate = (): Date => new Date();
  })();
  await expect(client.emails.schedule(given as never)).rejects.toThrow("emails.schedule: ");
  expect([given.sendAt, requests]).toEqual([basic, []]);
});

test("a time with an offset is sent as UTC with milliseconds", async () => {
  const { client, requests } = served([[202, { id: "1" }]]);
  await client.events.record({ ...event, occurredAt: "2030-01-31T11:00:00.123456+02:00" });
  expect(requests[0]?.body).toMatchObject({ occurredAt: "2030-01-31T09:00:00.123Z" });
});

test("one moment is one email under a key, however it is written", async () => {
  const { client, requests } = served([[201, { id: "s1" }]]);
  for (const sendAt of [basic, "2030-01-31T09:00:00Z", new Date("2030-01-31T09:00:00Z")])
    expect(await client.emails.schedule({ ...email, sendAt }, { once: "k" })).toMatchObject({ id: "s1" });
  expect(requests).toHaveLength(1);
});

test("a time that does not exist is refused by name before anything is sent", async () => {
  const { client, requests } = served([]);
  await expect(client.emails.schedule({ ...email, sendAt: "2030-02-30T09:00:00Z" })).rejects.toThrow(
    "emails.schedule: sendAt: must be a time that exists, got 2030-02-30T09:00:00Z",
  );
  await expect(client.events.record({ ...event, occurredAt: "2030-01-31T25:00:00Z" })).rejects.toThrow(
    "events.record: occurredAt: must be a time that exists, got 2030-01-31T25:00:00Z",
  );
  expect(requests).toEqual([]);
});
