import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Send } from "../../../src/http/types.ts";
import type { RedisLimitsOptions } from "../../../src/redis/index.ts";
import { delayingProxy } from "../../support/delaying-proxy.ts";
import { turn } from "../../support/fake-clock.ts";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { RedisServer } from "../../support/redis-server.ts";

// Over real connections, and so without a word about time: simulated.test.ts tells what depends on it.

const limit = { max: 50, windowMs: 500 };
const call = requestOn(["requests"]);

let server: RedisServer;
let id = 0;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  id += 1;
});
afterAll(() => server.stop());

const join = (next: Send, options: Partial<RedisLimitsOptions> = {}, port = server.port) => {
  const one = member(port, next, { id: `test ${id}`, requests: limit, ...options });
  closing.push(one.close);
  return one;
};

/** A service that takes everything, and how much that was. */
const open = () => {
  const taken = { count: 0 };
  const next: Send = async () => {
    taken.count += 1;
    return answered();
  };
  return { taken, next };
};

test("processes share the daily counts, which survive the processes", async () => {
  const { next } = open();
  const day = { requestsPerDay: 5 };
  const first = join(next, day);
  for (let at = 0; at < 3; at += 1) await first.send(call);
  await first.close();
  const second = join(next, day);
  for (let at = 0; at < 2; at += 1) await second.send(call);
  await expect(second.send(call)).rejects.toMatchObject({ name: "RateLimitError", status: 429 });
  expect(second.limiter.state().requestsPerDay).toMatchObject({ used: 5, remaining: 0 });
  await expect(join(next, day).send(call)).rejects.toMatchObject({ name: "RateLimitError" });
});

test("without Redis, calls are refused and not sent, and after a restart of Redis they are sent", async () => {
  const { taken, next } = open();
  const { send } = join(next, { maxLostMs: 0, requests: { max: 1_000_000, windowMs: 1_000 } });
  await send(call);
  await server.stop();
  let answers = 1;
  const refusal = await (async () => {
    for (;;) {
      const failure: unknown = await send(call).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure !== undefined) return failure;
      answers += 1;
      await turn();
    }
  })();
  expect(refusal).toMatchObject({ name: "ConnectionError", outcome: "not-applied" });
  expect(taken.count).toBe(answers);
  await server.again();
  const isRefused = (): Promise<boolean> =>
    send(call).then(
      () => false,
      () => true,
    );
  // Each refused call looks for Redis again, which takes more than a promise.
  while (await isRefused()) await turn();
  expect(taken.count).toBe(answers + 1);
});

test.each([60, 300])("calls work over a Redis that is %i ms away", async (latencyMs) => {
  const proxy = await delayingProxy(server.port, latencyMs);
  onTestFinished(proxy.close);
  const { next } = open();
  const events = { max: 50, windowMs: 1_000 };
  const { send } = join(
    next,
    { events, requests: { max: 100, windowMs: 10_000 }, maxLostMs: 5_000 },
    proxy.port,
  );
  expect((await send(requestOn(["requests", "events"]))).status).toBe(200);
});
