import { getEventListeners } from "node:events";
import { beforeAll, expect, test } from "vitest";
import type { ClientOptions } from "../../../src/index.ts";
import { Client } from "../../../src/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";

// It loads with its first use, which takes no time on the clock of these tests but turns of the event loop.
beforeAll(() => import("p-retry"));

/** A client whose service takes `ms` for each of its answers. */
const slow = (ms: number, options: ClientOptions = {}) => {
  const clock = new FakeClock();
  let requests = 0;
  const fetch = async (): Promise<Response> => {
    requests += 1;
    await clock.sleep(ms);
    return Response.json({});
  };
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch, limits: false } as const;
  const client = new Client({ ...given, ...options }, { clock, random: () => 0 });
  return { clock, client, requests: () => requests };
};

const endOf = async (clock: FakeClock, call: Promise<unknown>) => {
  const error = await clock.until(call.catch((reason: unknown) => reason));
  return { error, atMs: clock.now() };
};

const never = new Promise<never>(() => undefined);
const addresses = (count: number) => Array.from({ length: count }, (_, at) => `p${at}@example.com`);

const stalling = async function* (first: readonly string[]) {
  yield* first;
  await never;
};

test("addContacts has one total time for all of its requests, and says what went through", async () => {
  const { client, clock, requests } = slow(150, { totalTimeoutMs: 200 });
  const emails = addresses(5_000);
  const { error, atMs } = await endOf(clock, client.lists.addContacts("l1", emails));
  expect([atMs, requests()]).toEqual([200, 5]);
  expect(error).toMatchObject({
    code: "timeout",
    operation: "lists.addContacts",
    outcome: "unknown",
    partial: { done: emails.slice(0, 4_000), left: emails.slice(4_000) },
  });
});

test.each(["addContacts", "removeContacts"] as const)(
  "%s ends by its total time while a stream stalls",
  async (method) => {
    const { client, clock, requests } = slow(10);
    const sent = client.lists[method]("l1", stalling(addresses(1_000)), { totalTimeoutMs: 200 });
    const end = await endOf(clock, sent);
    expect(end).toMatchObject({ error: { code: "timeout", outcome: "not-applied" }, atMs: 200 });
    expect(requests()).toBe(0);
  },
);

test.each(["addContacts", "removeContacts"] as const)(
  "an abort ends %s while a stream stalls, and lets go of the stream",
  async (method) => {
    const { client, clock } = slow(10);
    const abort = new AbortController();
    let wasClosed = false;
    const quiet: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: () => never,
        return: async () => {
          wasClosed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    clock.after(50, () => abort.abort("enough"));
    const end = await endOf(clock, client.lists[method]("l1", quiet, { signal: abort.signal }));
    expect([end, wasClosed]).toEqual([{ error: "enough", atMs: 50 }, true]);
  },
);

test("one faulty address is enough to refuse an array or a stream", async () => {
  const { client, requests } = slow(0);
  const emails = [...addresses(1_000), "nobody"];
  const stream = async function* () {
    yield* emails;
  };
  for (const source of [emails, stream()])
    await expect(client.lists.addContacts("l1", source)).rejects.toMatchObject({
      issues: [{ path: "emails[1000]", message: "must be one email address such as ada@example.com" }],
    });
  expect(requests()).toBe(0);
});

test("the last address of a stream is sent although it is alone", async () => {
  const { client, clock } = slow(0);
  const { signal } = new AbortController();
  const sent = client.lists.addContacts("l1", new Set(addresses(1_001)), { signal });
  expect(await clock.until(sent)).toEqual({ requested: 1_001, calls: 2, responses: [{}, {}] });
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
