import { beforeAll, expect, test } from "vitest";
import type { ClientOptions } from "../../../src/index.ts";
import type { FakeClock } from "../../support/fake-clock.ts";
import { type Served, served } from "./served.ts";

// Both load with their first use, which takes no time on the clock of these tests but turns of the event loop.
beforeAll(() => Promise.all([import("p-retry"), import("../../../src/ledger/send-once.ts")]));

const email = "ada@example.com";
const ada = { id: "c1", email, name: "Ada" };
const clash = { error: "email exists" };
const pageOf = (...data: readonly object[]) => ({ data, total: data.length, skip: 0, limit: 200 });

/** A service that takes `ms` for each of its answers. */
const slow = (ms: number, answers: readonly (readonly [number, object])[], options?: ClientOptions) => {
  let clock: FakeClock | undefined;
  const script = answers.map(
    ([status, body]): Served =>
      async () => {
        await clock?.sleep(ms);
        return Response.json(body, { status });
      },
  );
  const scene = served(script, { maxRetries: 0, totalTimeoutMs: 200, ...options });
  clock = scene.clock;
  return scene;
};

const endOf = async (clock: FakeClock, call: Promise<unknown>) => {
  const error = await clock.until(call.catch((reason: unknown) => reason));
  return { error, atMs: clock.now() };
};

test("an upsert of three requests ends by its total time, not each by its own", async () => {
  const { client, clock, requests } = slow(80, [
    [409, clash],
    [200, pageOf(ada)],
    [200, ada],
  ]);
  const end = await endOf(clock, client.contacts.upsert({ email, name: "Ada L" }));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "unknown" }, atMs: 200 });
  expect(String(end.error)).toContain("totalTimeoutMs (200 ms)");
  expect(requests).toHaveLength(3);
});

test("the total time of one upsert goes before the client's, longer or shorter", async () => {
  const answers = [
    [409, clash],
    [200, pageOf(ada)],
    [200, ada],
  ] as const;
  const patient = slow(80, answers);
  const input = { email, name: "Ada L" };
  const updated = patient.client.contacts.upsert(input, { totalTimeoutMs: 300 });
  expect(await patient.clock.until(updated)).toEqual({ contact: ada, created: false });
  const hasty = slow(80, answers);
  const end = await endOf(hasty.clock, hasty.client.contacts.upsert(input, { totalTimeoutMs: 100 }));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "not-applied" }, atMs: 100 });
});

test("a creation that took all the time is not looked up after it", async () => {
  const { client, clock, requests } = slow(500, [[201, ada]]);
  const { error, atMs } = await endOf(clock, client.contacts.upsert({ email }));
  expect(error).toMatchObject({ code: "timeout", outcome: "unknown", operation: "contacts.upsert" });
  expect([atMs, requests.length]).toEqual([200, 1]);
});

test("an unclear creation leaves an upsert unclear, whatever ends its search", async () => {
  const lost = new TypeError("fetch failed");
  const refused = served([lost, [403, { error: "no" }]], { maxRetries: 0 });
  await expect(refused.client.contacts.upsert({ email })).rejects.toMatchObject({
    code: "permission_denied",
    outcome: "unknown",
  });
  const late = slow(
    150,
    [
      [500, {}],
      [200, pageOf()],
    ],
    { maxRetries: 0 },
  );
  const end = await endOf(late.clock, late.client.contacts.upsert({ email }));
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "unknown" }, atMs: 200 });
});

test("an upsert stays unknown after an unclear update, even if the contact's creation is refused", async () => {
  const lost = new TypeError("fetch failed");
  const script: readonly Served[] = [
    [409, clash],
    [200, pageOf(ada)],
    lost,
    [404, { error: "gone" }],
    [400, { error: "no" }],
  ];
  const { client, clock } = served(script, { maxRetries: 1 });
  const { error } = await endOf(clock, client.contacts.upsert({ email, name: "Ada L" }));
  expect(error).toMatchObject({ code: "bad_request", outcome: "unknown" });
});

test("a search over several pages ends by its total time", async () => {
  const others = Array.from({ length: 200 }, (_, n) => ({ id: `o${n}`, email: `${n}.${email}` }));
  const page = { data: others, total: 800, skip: 0, limit: 200 };
  const { client, clock } = slow(150, [
    [200, page],
    [200, page],
    [200, page],
  ]);
  const { error, atMs } = await endOf(clock, client.contacts.find(email));
  expect(error).toMatchObject({ code: "timeout", outcome: "not-applied" });
  expect(atMs).toBe(200);
});

const threePages = (ms: number) =>
  slow(
    ms,
    [0, 1, 2, 3].map((n) => {
      const data = n < 3 ? [{ ...ada, id: `c${n}` }] : [];
      return [200, { data, total: 3, skip: n, limit: 1 }];
    }),
  );

test("toArray ends by its total time, as one call", async () => {
  const { client, clock } = threePages(80);
  const all = client.contacts.list({ limit: 1 }, { consistency: "fast", prefetch: 0 }).toArray();
  expect(await endOf(clock, all)).toMatchObject({ error: { code: "timeout" }, atMs: 200 });
});

test("an iteration has the total time for each page anew", async () => {
  const { client, clock } = threePages(150);
  const list = client.contacts.list({ limit: 1 }, { consistency: "fast", prefetch: 0 });
  const walk = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    return ids;
  };
  expect(await clock.until(walk().catch((error: unknown) => error))).toEqual(["c0", "c1", "c2"]);
});

test("a company's search ends by its total time", async () => {
  const { client, clock } = slow(500, [[200, pageOf()]]);
  const end = await endOf(clock, client.companies.findByDomain("example.com"));
  expect(end).toMatchObject({ error: { code: "timeout" }, atMs: 200 });
});

test("an email under a key ends by its total time, and says which", async () => {
  const { client, clock } = slow(500, [[200, { id: "m1", to: email }]]);
  const sent = client.emails.send({ to: email, subject: "Hi", text: "Hi" }, { once: "k" });
  const end = await endOf(clock, sent);
  expect(end).toMatchObject({ error: { code: "timeout", outcome: "unknown" }, atMs: 200 });
  expect(String(end.error)).toContain("totalTimeoutMs (200 ms)");
});

test("an abort ends an upsert with the signal's own reason", async () => {
  const abort = new AbortController();
  const { client, clock, requests } = slow(80, [
    [409, clash],
    [200, pageOf(ada)],
  ]);
  const upsert = client.contacts.upsert({ email, name: "Ada L" }, { signal: abort.signal });
  clock.after(100, () => abort.abort("mine"));
  expect(await endOf(clock, upsert)).toEqual({ error: "mine", atMs: 100 });
  expect(requests).toHaveLength(2);
});
