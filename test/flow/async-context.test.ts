import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { Client, type ClientOptions, type WaitNotice } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

test.each<[string, ClientOptions]>([
  ["a limit", { limits: { requests: { max: 1, windowMs: 1_000 } } }],
  ["a slot", { concurrency: 1 }],
  ["a back-off", { maxRetries: 1 }],
])("after a wait for %s, each call continues in its own context", async (what, options) => {
  const caller = new AsyncLocalStorage<string>();
  const clock = new FakeClock();
  const seen: unknown[] = [];
  const fetch = async (url: string): Promise<Response> => {
    seen.push([caller.getStore(), new URL(url).searchParams.get("search")]);
    const isFirst = what === "a back-off" && seen.length <= 3;
    return isFirst ? new Response(null, { status: 503 }) : Response.json({ data: [], total: 0 });
  };
  const client = new Client({ apiKey: "key", baseUrl: "https://crm.test", fetch, ...options }, { clock });
  const names = ["first", "second", "third"];
  const calls = names.map((search) => caller.run(search, async () => client.contacts.list({ search })));
  await clock.until(Promise.all(calls));
  expect(new Set(seen.map(String))).toEqual(new Set(names.map((name) => `${name},${name}`)));
});

test("a wait is reported in the context of the waiting call, regardless of which call changes it", async () => {
  const caller = new AsyncLocalStorage<string>();
  const clock = new FakeClock();
  const told: string[] = [];
  const fetch = async (): Promise<Response> => {
    await clock.sleep(10);
    return Response.json({ data: [], total: 0 });
  };
  const onWait = ({ operation }: WaitNotice) => void told.push(`${operation} in ${caller.getStore()}`);
  const limits = { requests: { max: 10, windowMs: 1_000 } };
  const options = { apiKey: "key", baseUrl: "https://crm.test", fetch, concurrency: 3, limits };
  const client = new Client({ ...options, hooks: { onWait } }, { clock });
  const methods = [
    () => client.contacts.list(),
    () => client.contacts.update("contact-1", { name: "Ada" }),
    () => client.emails.scheduled.list(),
  ];
  const operations = ["contacts.list", "contacts.update", "emails.scheduled.list"];
  const calls = Array.from({ length: 120 }, (_, at) =>
    caller.run(String(operations[at % 3]), async () => methods[at % 3]?.()),
  );
  await clock.until(Promise.all(calls));
  // Each waits for a slot; the first of the queue also for the limit.
  expect(told.length).toBeGreaterThan(117);
  expect(new Set(told)).toEqual(new Set(operations.map((name) => `${name} in ${name}`)));
});
