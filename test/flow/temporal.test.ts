import { Temporal as OfJs } from "@js-temporal/polyfill";
import { Temporal as OfPolyfill } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { Client, memoryLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const bodies: unknown[] = [];
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: (url, init) => {
      if (typeof init?.body === "string") bodies.push(JSON.parse(init.body));
      return sandbox.fetch(url, init);
    },
  });
  return { sandbox, client, bodies };
};

const email = { to: "ada@example.com", subject: "Reminder", text: "Tomorrow." };

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

// test/runtimes/temporal.test.ts runs this file where there is one.
const own: unknown = Reflect.get(globalThis, "Temporal");

describe.each([
  ["temporal-polyfill", OfPolyfill],
  ["@js-temporal/polyfill", OfJs],
  ...(own === undefined ? [] : [["this runtime", own] as const]),
] as const)("with the Temporal of %s", (_name, given) => {
  // For the types, each has classes of its own, with the same methods.
  const Temporal = given as typeof OfPolyfill;
  const zoned = Temporal.ZonedDateTime.from("2099-01-31T09:00:00.123456789[Europe/Berlin]");
  const instant = zoned.toInstant();
  const written = "2099-01-31T08:00:00.123Z";

  test.each([
    ["an Instant", instant],
    ["a ZonedDateTime", zoned],
  ])("%s is a time of an email, written as UTC with milliseconds", async (_what, sendAt) => {
    const { client, bodies } = scene();
    const { id } = await client.emails.schedule({ ...email, sendAt });
    await client.emails.scheduled.update(id, { sendAt });
    expect(bodies).toMatchObject([{ sendAt: written }, { sendAt: written }]);
  });

  test("a ZonedDateTime and its Instant are one email under a key", async () => {
    const { sandbox, client } = scene();
    const first = await client.emails.schedule({ ...email, sendAt: zoned }, { once: "k" });
    expect(await client.emails.schedule({ ...email, sendAt: instant }, { once: "k" })).toEqual(first);
    expect(sandbox.state.counts.requests).toBe(1);
  });

  test.each([
    ["an Instant", Temporal.Instant.from("2026-01-31T08:00:00.123456789Z")],
    ["a ZonedDateTime", Temporal.ZonedDateTime.from("2026-01-31T09:00:00.123456789[Europe/Berlin]")],
  ])("%s is the time of an event", async (_what, occurredAt) => {
    const { client, bodies } = scene();
    await client.events.record({ name: "seen", contact: { email: email.to }, occurredAt });
    expect(bodies).toMatchObject([{ occurredAt: "2026-01-31T08:00:00.123Z" }]);
  });

  test("an Instant and a ZonedDateTime filter a ledger", async () => {
    const ledger = memoryLedger();
    await ledger.claim("k", "print");
    const keysSince = async (since: typeof zoned | typeof instant) => {
      const keys: string[] = [];
      for await (const { key } of ledger.list({ since })) keys.push(key);
      return keys;
    };
    const past = Temporal.Instant.from("2020-01-01T00:00:00Z").toZonedDateTimeISO("Europe/Berlin");
    expect([await keysSince(past), await keysSince(past.toInstant()), await keysSince(zoned)]).toEqual([
      ["k"],
      ["k"],
      [],
    ]);
  });

  test("a deadline that has passed sends nothing", async () => {
    const { sandbox, client } = scene();
    const past = Temporal.Instant.from("2020-01-01T00:00:00Z");
    for (const deadline of [past, past.toZonedDateTimeISO("Europe/Berlin")])
      await expect(client.withOptions({ deadline }).contacts.find(email.to)).rejects.toMatchObject({
        code: "timeout",
      });
    expect(sandbox.state.counts.requests).toBe(0);
  });

  test("free fields are written as toJSON says, a ZonedDateTime without its bracket", async () => {
    const { client, bodies } = scene();
    const fields = { instant, zoned, date: zoned.toPlainDate(), length: Temporal.Duration.from("PT90M") };
    const asJson = {
      instant: "2099-01-31T08:00:00.123456789Z",
      zoned: "2099-01-31T09:00:00.123456789+01:00",
      date: "2099-01-31",
      length: "PT90M",
    };
    await client.contacts.create({ email: email.to, customFields: fields });
    await client.events.record({ name: "seen", contact: { email: email.to }, properties: fields });
    expect(bodies).toMatchObject([{ customFields: asJson }, { properties: asJson }]);
  });

  const conversion = "to make a Temporal.ZonedDateTime of the";
  test.each([
    ["PlainDateTime", zoned.toPlainDateTime(), `${conversion} Temporal.PlainDateTime`],
    ["PlainDate", zoned.toPlainDate(), `${conversion} Temporal.PlainDate`],
    ["PlainTime", zoned.toPlainTime(), "of a Temporal.PlainDate: a Temporal.PlainTime is not a date"],
  ])("a %s is refused with a method that there is", async (_what, sendAt, advice) => {
    const { sandbox, client } = scene();
    await expect(client.emails.schedule(loose({ ...email, sendAt }))).rejects.toMatchObject({
      code: "input_invalid",
      issues: [
        {
          path: "sendAt",
          message: `has no time zone; use toZonedDateTime(…) ${advice}`,
        },
      ],
    });
    expect(sandbox.state.counts.requests).toBe(0);
  });
});
