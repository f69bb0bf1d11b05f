import { beforeAll, expect, test } from "vitest";
import { served } from "../unit/resources/served.ts";

// Both load with their first use, which takes no time on the clock of these tests but turns of the event loop.
beforeAll(() => Promise.all([import("p-retry"), import("../../src/ledger/send-once.ts")]));

const email = "ada@example.com";
const ada = { id: "c1", email };
const page = { data: [], total: 0, skip: 0, limit: 200 };
const tenSeconds = { requests: { max: 1, windowMs: 10_000 } };

test("every call of a client with a deadline ends by then, the second with what the first left", async () => {
  const hang = () => new Promise<Response>(() => undefined);
  const scene = served([() => scene.clock.sleep(700).then(() => Response.json(ada, { status: 201 })), hang]);
  const { client, clock, requests } = scene;
  const bound = client.withOptions({ deadline: 1_000 });
  await clock.until(bound.contacts.create({ email }));
  const error = await clock.until(bound.contacts.find(email).catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: "timeout", outcome: "not-applied" });
  expect(String(error)).toContain("client's deadline");
  expect([clock.now(), requests.length]).toEqual([1_000, 2]);
});

test("after its deadline, no method sends anything", async () => {
  const { client, clock, requests } = served([]);
  const bound = client.withOptions({ deadline: new Date(clock.wallTime() - 1) });
  const calls = [
    bound.contacts.create({ email }),
    bound.contacts.upsert({ email }),
    bound.contacts.list().toArray(),
    bound.events.ingest([{ id: "e1", name: "signed.up", contact: { email } }]),
    bound.emails.send({ to: email, subject: "s", text: "b" }, { once: "k" }),
    bound.request({ method: "GET", path: "/api/v1/contacts" }),
  ];
  const ends = await clock.until(Promise.allSettled(calls));
  for (const end of ends) expect(end).toMatchObject({ reason: { code: "timeout", outcome: "not-applied" } });
  expect(requests).toEqual([]);
});

test("a call that would wait until shortly before the deadline is refused at once", async () => {
  const { client, clock, requests } = served([[200, page]], { limits: tenSeconds });
  await clock.until(client.contacts.find(email));
  const bound = client.withOptions({ deadline: 10_100 });
  const error = await clock.until(bound.contacts.find(email).catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: "rate_limited", limit: "requests", outcome: "not-applied" });
  expect(String(error)).toContain("the client's deadline leaves only");
  expect([clock.now(), requests.length]).toEqual([0, 1]);
});

test("a wait of unknown length ends 250 ms before the deadline as a refusal", async () => {
  const hang = () => new Promise<Response>(() => undefined);
  const { client, clock, requests } = served([hang], { concurrency: 1 });
  client.contacts.find(email).catch(() => undefined);
  const bound = client.withOptions({ deadline: 2_000 });
  const error = await clock.until(bound.contacts.find(email).catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: "rate_limited", limit: "concurrency", outcome: "not-applied" });
  expect([clock.now(), requests.length]).toEqual([1_750, 1]);
});

test("no retry starts less than 250 ms before the deadline", async () => {
  const down = [503, { error: "down" }] as const;
  const { client, clock, requests } = served([down, down, down], { maxRetries: 4 }, 0.9999);
  const bound = client.withOptions({ deadline: 1_100 });
  const error = await clock.until(bound.contacts.find(email).catch((reason: unknown) => reason));
  expect(error).toMatchObject({ code: "service_unavailable" });
  expect(clock.now()).toBeLessThan(850);
  expect(requests.length).toBeLessThan(3);
});

test("a deadline is kept by further clients, replaced by another, and is not the first client's", async () => {
  const slow = () => scene.clock.sleep(500).then(() => Response.json(page));
  const scene = served([slow, slow, slow]);
  const { client, clock } = scene;
  const bound = client.withOptions({ deadline: 100 });
  const endOf = (one: typeof client) =>
    one.contacts.find(email).then(
      () => "found",
      ({ code }: { code: string }) => code,
    );
  const clients = [client, bound.withOptions({ maxRetries: 1 }), bound.withOptions({ deadline: 900 })];
  expect(await clock.until(Promise.all(clients.map(endOf)))).toEqual(["found", "timeout", "found"]);
});

test("a client with a deadline keeps the limits, the ledger and the close of its first client", async () => {
  const { client, clock, requests } = served([[200, page]], { limits: tenSeconds });
  const bound = client.withOptions({ deadline: 60_000 });
  await clock.until(bound.contacts.find(email));
  expect(client.budgets().requests.used).toBe(1);
  await bound.close();
  const waiting = client.contacts.find(email);
  const refused = bound.contacts.find(email);
  const ends = Promise.allSettled([waiting, refused]);
  await clock.advance(1);
  expect(await client.close()).toMatchObject({ refused: 2 });
  expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(requests).toHaveLength(1);
});

test.each([
  ["a Date that is none", new Date(Number.NaN)],
  ["no number", Number.NaN],
  ["milliseconds since 1970", Date.UTC(2026, 0)],
  ["text", "2026-01-31T09:00:00Z"],
  ["null", null],
])("%s is no deadline", (_, deadline) => {
  const { client } = served([]);
  // What JavaScript can pass.
  expect(() => client.withOptions({ deadline: deadline as Date })).toThrow(/deadline must be a valid Date/);
});

test("a point in time of Temporal is a deadline", async () => {
  const { client, clock } = served([() => new Promise<Response>(() => undefined)]);
  const epochMilliseconds = clock.wallTime() + 300;
  const instant = {
    epochMilliseconds,
    epochNanoseconds: BigInt(epochMilliseconds) * 1_000_000n,
    [Symbol.toStringTag]: "Temporal.Instant",
  };
  const bound = client.withOptions({ deadline: instant });
  await expect(clock.until(bound.contacts.find(email))).rejects.toMatchObject({ code: "timeout" });
  expect(clock.now()).toBe(300);
});
