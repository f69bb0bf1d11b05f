import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

// Whoever watches a call may fail in any way; the call goes on, and the process too.
const unhandled: unknown[] = [];
const listen = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => void process.on("unhandledRejection", listen));
afterEach(() => {
  process.off("unhandledRejection", listen);
  unhandled.splice(0);
});

const down = new Error("metrics down");
const hooks = ["onRequest", "onResponse", "onRetry", "onWait", "onValidationIssue"] as const;
const methods = ["debug", "info", "warn"] as const;
const ways: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw down;
  },
  rejects: async () => {
    throw down;
  },
  "rejects with a promise of another realm": runInNewContext("() => Promise.reject(new Error('down'))"),
  "answers a thenable that rejects": () => ({
    then: (_done: unknown, fail: (reason: Error) => void) => fail(down),
  }),
  "answers what throws when it is looked at": () =>
    Object.defineProperty({}, "then", {
      get: () => {
        throw down;
      },
    }),
};

/** Makes a call in which every hook and every level of the log is told something; tells whom it told. */
const watched = async (watcher: string, way: () => unknown) => {
  const told: string[] = [];
  const at = (name: string) => (): unknown => {
    told.push(name);
    return name === watcher ? way() : undefined;
  };
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client(
    {
      apiKey: "key",
      baseUrl: "http://localhost",
      fetch: sandbox.fetch,
      limits: false,
      concurrency: 1,
      hooks: Object.fromEntries(hooks.map((name) => [name, at(name)])),
      logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
      logLevel: "debug",
    } satisfies ClientOptions,
    { clock: { ...systemClock, sleep: async () => undefined } },
  );
  const contact = await client.contacts.create({ email: "ada@example.com" });
  sandbox.fail({ operation: "contacts.update", with: { status: 503 } });
  const wrong = { status: 200, applied: true, body: { id: 7, email: 7 } };
  sandbox.fail({ operation: "contacts.update", nth: 2, with: wrong });
  const waiting = client.contacts.list();
  await Promise.all([client.contacts.update(contact.id, { name: "Ada" }), waiting]);
  // A rejection that nobody takes is told after the turn in which it came.
  await new Promise((resolve) => setImmediate(resolve));
  return told;
};

const cases = [...hooks, ...methods].flatMap((watcher) =>
  Object.entries(ways).map(([name, way]) => [watcher, name, way] as const),
);

test.each(cases)("%s that %s neither fails the call nor the process", async (watcher, _name, way) => {
  expect(await watched(watcher, way)).toContain(watcher);
  expect(unhandled).toEqual([]);
});
