import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

test.each<[string, ClientOptions]>([
  ["a limit", { limits: { requests: { max: 1, windowMs: 1_000 } } }],
  ["a slot", { concurrency: 1 }],
  ["a back-off", { maxRetries: 1 }],
])("what waited for %s goes on in the context of its own call", async (what, options) => {
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
